"""What a hostile class can do to `gpukit grade`, and what it costs to grade one.

    python -m benchmarks.classroom                   tables: attacks, honest answers, a batch
    python -m benchmarks.classroom --only attacks    one of them; also: honest, batch, frames
    python -m benchmarks.classroom --mode landlock   attacks in one mode of isolation
    python -m benchmarks.classroom --write           the same into docs/security.md, and as JSON

Attacks are graded in each mode of isolation that this machine allows, twice: with the rules, and
without them, so that the sandbox and the comparison stand alone. Harm is looked for outside:
undeserved points, others that lose theirs, files, packets to a port, processes that go on.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from benchmarks import classroom_fuzz, harness
from benchmarks.classroom_fuzz import SEED, find
from gpukit.classroom import intake, rules, work
from gpukit.classroom.sandbox import modes
from gpukit.classroom.work import Task
from gpukit.course import catalogue
from gpukit.course.catalogue import Exercise
from tests.classroom import corpus, harm
from tests.classroom.corpus import Case

DOCUMENT = harness.ROOT / "docs" / "security.md"
RESULT = harness.ROOT / "benchmarks" / "results" / "classroom.json"
STUDENTS, HOSTILE_PART, EXERCISES, KILLS = 200, 0.1, 8, 3
HARM = ("undeserved", "other", "traces")
SECONDS = 5.0  # that an attack may take


# ---- attacks ------------------------------------------------------------------------------------


def attack(case: Case, mode: str, by_rules: bool) -> dict[str, Any]:
    """Grade an attack beside a victim, and return what came of it."""
    exercise = find(case.exercise)
    allowed = contextlib.nullcontext() if by_rules else mock.patch.object(rules, "kept", whole)
    with tempfile.TemporaryDirectory() as name, harm.observed(Path(name)) as seen, allowed:
        folder = Path(name)
        victim = folder / "victim" / f"{exercise.name}.py"
        victim.parent.mkdir()
        victim.write_bytes(exercise.solution.read_bytes())
        try:
            file = corpus.place(case, folder)
        except OSError as error:
            return {"id": case.id, "skipped": str(error)}
        handed_in = intake.collect(folder, [exercise])
        attacker = corpus.attacker(file, folder)
        (other,) = (one for one in handed_in if one.student == "victim")
        mine = [one for one in handed_in if one.student == attacker]
        begin = time.perf_counter()
        with mock.patch.object(work, "_exercise", impatient):
            reports = [work.grade_one(Task(one, SEED, mode)) for one in mine]
        seconds = time.perf_counter() - begin
        statuses = {report["status"] for report in reports}
        points = sum(report["points"] or 0 for report in reports)
        deserved = case.points if by_rules else case.without_rules
        return {
            "id": case.id,
            "statuses": sorted(statuses),
            "points": points,
            "undeserved": bool(points and deserved == 0),
            "unexpected": by_rules and not statuses <= case.expect,
            "other": work.grade_one(Task(other, SEED, mode))["status"] != "right",
            "traces": seen(),
            "seconds": round(seconds, 2),
        }


def impatient(name: str, known: Callable[[str], Exercise] = work._exercise) -> Exercise:
    """Return an exercise whose answers get less time: some attacks never end."""
    return dataclasses.replace(known(name), seconds=SECONDS)


def summed(done: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the statuses of attacks by their ids, and the ids of those that did harm."""
    tried = [one for one in done if "skipped" not in one]
    harm = {key: [one["id"] for one in tried if one[key]] for key in HARM}
    return {"statuses": {one["id"]: ", ".join(one["statuses"]) for one in tried}, **harm}


def whole(source: str, _entry: str, **_: bool) -> str:
    """Stand in for `rules.kept`: run all of a submission."""
    return source


def attacks(only: str | None = None) -> list[dict[str, Any]]:
    """Grade all attacks, in one mode or in each, with the rules and without."""
    rows: list[dict[str, Any]] = []
    for mode in [only] if only else [m.name for m in modes.every() if m.is_available]:
        for by_rules in (True, False):
            done = []
            for case in corpus.hostile():
                done.append(attack(case, mode, by_rules))
                print(mode, by_rules, json.dumps(done[-1]), file=sys.stderr, flush=True)
            rows.append({"mode": mode, "rules": by_rules, **summed(done)})
    return rows


# ---- honest answers -----------------------------------------------------------------------------


def honest() -> list[dict[str, Any]]:
    """Grade honest variants; return those that do not get what they deserve."""
    mode, found = modes.find().name, []
    for case in corpus.honest():
        exercise = catalogue.find(case.exercise)
        with tempfile.TemporaryDirectory() as name:
            corpus.place(case, Path(name))
            (handed_in,) = intake.collect(Path(name), [exercise])
            report = work.grade_one(Task(handed_in, SEED, mode))
        found.append({"id": case.id, "status": report["status"], "why": report["why"]})
    return found


# ---- a batch ------------------------------------------------------------------------------------


def classroom(folder: Path) -> dict[str, int]:
    """Write a class of 200, a tenth of it hostile; return the points that honest ones deserve."""
    draw = random.Random(SEED)
    honest = (c for c in corpus.honest() if not (c.path or c.notebook or c.recipe))
    plain = [case for case in honest if case.source.suffix == ".py"]
    common = [name for name, _ in Counter(c.exercise for c in plain).most_common(EXERCISES)]
    right = [c for c in plain if c.exercise in common]
    hostile = [
        case
        for case in corpus.hostile()
        if case.exercise in common and not (case.heavy or case.path or case.recipe)
    ]
    deserved = {}
    for number in range(STUDENTS):
        case = draw.choice(hostile if draw.random() < HOSTILE_PART else right)
        student = f"student{number:03}"
        place = folder / student / f"{case.exercise}{case.source.suffix}"
        place.parent.mkdir(parents=True)
        # A line of their own, so that nothing is compiled once for several of them.
        place.write_bytes(case.data() + f"\n# {student}\n".encode(case.encoding))
        if case.folder == "honest":
            deserved[student] = catalogue.find(case.exercise).points
    return deserved


def command(folder: Path, out: Path) -> list[str]:
    """Return the command that grades a class."""
    line = [sys.executable, "-m", "gpukit", "grade", str(folder), "--out", str(out)]
    return [*line, "--seed", str(SEED), "--jobs", "2"]


def batch() -> dict[str, Any]:
    """Grade a class in one go, and again with three kills on the way; compare the files."""
    with tempfile.TemporaryDirectory() as name:
        folder, once, again = Path(name) / "class", Path(name) / "once", Path(name) / "again"
        deserved = classroom(folder)
        begin = time.perf_counter()
        subprocess.run(command(folder, once), check=False, stdout=subprocess.DEVNULL)
        seconds = time.perf_counter() - begin
        for kill in range(KILLS):
            going = subprocess.Popen(command(folder, again), stdout=subprocess.DEVNULL)
            time.sleep(seconds * (kill + 1) / (KILLS + 2))
            going.kill()
            going.wait()
        subprocess.run(command(folder, again), check=False, stdout=subprocess.DEVNULL)
        reports = list(reported(once))
        earned = Counter[str]()
        for report in reports:
            earned[report["student"]] += report["points"] or 0
        return {
            "students": STUDENTS,
            "seconds": round(seconds, 1),
            "median": round(statistics.median(each(folder)), 2),
            "statuses": Counter(r["status"] for r in reports if r["status"] != "absent"),
            "lost": sorted(s for s, points in deserved.items() if earned[s] != points),
            "same after kills": content_of(once) == content_of(again),
        }


def each(folder: Path) -> Iterator[float]:
    """Yield the seconds of each submission in a warm process that has nothing else to do."""
    mode = modes.find().name
    for handed_in in intake.collect(folder, catalogue.every()):
        if handed_in.source:
            begin = time.perf_counter()
            work.grade_one(Task(handed_in, SEED, mode))
            yield time.perf_counter() - begin


def reported(out: Path) -> Iterator[dict[str, Any]]:
    """Yield the reports of a run."""
    for file in sorted(out.glob("reports/*/*.json")):
        yield json.loads(file.read_text(encoding="utf-8"))


def content_of(out: Path) -> dict[str, bytes]:
    """Return all files of a run by their names."""
    files = (file for file in out.rglob("*") if file.is_file())
    return {file.relative_to(out).as_posix(): file.read_bytes() for file in files}


# ---- tables -------------------------------------------------------------------------------------


def tables(record: dict[str, Any]) -> str:
    """Return what was measured as Markdown."""
    parts = []
    if "attacks" in record:
        heads = [
            "isolation",
            "rules",
            "tried",
            "undeserved points",
            "others lost",
            "traces outside",
        ]
        parts.append(harness.markdown(heads, map(counts, record["attacks"])))
    if "honest" in record:
        wrong = [one["id"] for one in record["honest"] if one["status"] != "right"]
        listed = f": {', '.join(wrong)}" if wrong else ""
        parts.append(f"{len(record['honest'])} honest variants, {len(wrong)} not right{listed}.")
    if "batch" in record:
        one = record["batch"]
        same = "byte for byte the same" if one["same after kills"] else "NOT THE SAME"
        parts.append(
            f"{one['students']} submissions: {one['seconds']:.0f} s on two cores, median "
            f"{one['median']} s each; {len(one['lost'])} honest ones lost; after {KILLS} kills and "
            f"restarts {same}."
        )
    for kind in ("frames", "submissions"):
        if kind in record:
            one = record[kind]
            crashes = sum(n for what, n in one["outcomes"].items() if what.startswith("CRASH"))
            parts.append(
                f"{one['count']:,} mutated {kind}: {crashes} crashes, the slowest took "
                f"{one['slowest']} s."
            )
    return "\n\n".join(parts)


def counts(row: dict[str, Any]) -> list[object]:
    """Return the cells of a mode."""
    found = [len(row[key]) for key in HARM]
    return [row["mode"], "yes" if row["rules"] else "no", len(row["statuses"]), *found]


def _order(row: dict[str, Any]) -> tuple[int, bool]:
    """Return the place of a row in the table: by strength of the mode, with the rules first."""
    return [m.name for m in modes.every()].index(row["mode"]), not row["rules"]


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parts = ("attacks", "honest", "batch", "frames", "submissions")
    parser.add_argument("--only", choices=parts)
    parser.add_argument("--mode", help="of isolation: grade attacks in this one only")
    parser.add_argument("--frames", type=int, default=1_000_000)
    parser.add_argument("--submissions", type=int, default=10_000)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    measures: dict[str, Any] = {
        "attacks": lambda: attacks(options.mode),
        "honest": honest,
        "batch": batch,
        "frames": lambda: classroom_fuzz.frames(options.frames),
        "submissions": lambda: classroom_fuzz.submissions(options.submissions),
    }
    only = "attacks" if options.mode else options.only
    new = {name: measures[name]() for name in ([only] if only else parts)}
    record = json.loads(RESULT.read_text()) if only and RESULT.exists() else {}
    if options.mode:
        others = (row for row in record.get("attacks", ()) if row["mode"] != options.mode)
        new["attacks"] = sorted([*others, *new["attacks"]], key=_order)
    record |= new
    text = tables(record)
    print(text)
    if options.write:
        harness.save(RESULT, {**record, "machine": harness.machine()})
        harness.put("measured", text, DOCUMENT)


if __name__ == "__main__":
    main()
