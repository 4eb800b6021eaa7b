"""Hostile submissions get no points that they do not deserve, and do no harm."""

from dataclasses import replace

import pytest

from gpukit.classroom import intake, work
from gpukit.classroom.work import Task
from gpukit.course import catalogue
from tests.classroom import corpus, harm

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("port")]
HOSTILE = list(corpus.hostile())
PARTS, SEED, SECONDS = 24, 20261129, 5.0


def graded(case, folder, attacker, isolation):
    found = intake.collect(folder, [catalogue.find(case.exercise)])
    mine = [one for one in found if one.student == attacker]
    return [work.grade_one(Task(one, SEED, isolation)) for one in mine]


@pytest.fixture(autouse=True)
def little_time(monkeypatch):
    """Give an answer seconds instead of most of a minute: some of these never end."""
    known = work._exercise
    monkeypatch.setattr(work, "_exercise", lambda name: replace(known(name), seconds=SECONDS))


@pytest.mark.parametrize("part", range(PARTS))
def test_no_attack_of_this_part_succeeds(part, tmp_path, isolation):
    wrong = []
    for case in HOSTILE[part::PARTS]:
        folder = tmp_path / case.id
        victim = folder / "victim" / f"{case.exercise}.py"
        victim.parent.mkdir(parents=True)
        victim.write_text("untouched")
        try:
            file = corpus.place(case, folder)
        except OSError:  # this system, or this user, cannot make such a file
            continue
        with harm.observed(folder) as seen:
            reports = graded(case, folder, corpus.attacker(file, folder), isolation)
            traces = seen()
        statuses = {report["status"] for report in reports}
        points = sum(report["points"] or 0 for report in reports)
        if not statuses <= case.expect or (points and case.points == 0) or traces:
            wrong.append((case.id, statuses, points, traces, [r["why"] for r in reports]))
        assert victim.read_text() == "untouched"
    assert wrong == []
