"""Solve, edit, save, reload, reset and update in random orders, without losing work."""

import json
import random

import pytest

from gpukit import cli
from gpukit.course import catalogue, cells, progress, workbook
from tests.course.workbooks import LESSON, SECOND, TASK, write_lesson

STEPS = 14


class Reader:
    """A simulated reader, and the work that must be preserved."""

    def __init__(self, seed, project, book):
        self.chance, self.project, self.book = random.Random(seed), project, book
        self.version = 0
        self.saved = {}  # last saved version of each lesson
        self.written = []  # answers edited by hand
        self.cell = ""  # the last cell run
        self.best = "new"

    @property
    def exercise(self):
        return catalogue.find("brighten")

    def text(self):
        return f"x = {self.chance.randrange(10**9)}\n"

    def solve_in_a_cell(self):
        self.cell = self.text()
        cells.keep(self.exercise, self.cell)
        progress.record(self.exercise, "right")
        self.best = "right"

    def edit_the_answer(self):
        if not self.exercise.answer.exists():
            progress.begin(self.exercise)
        with self.exercise.answer.open("a") as file:
            file.write(self.text())
        self.written.append(self.exercise.answer.read_bytes())

    def save(self):
        name = self.chance.choice([LESSON, SECOND])
        output = {"output_type": "stream", "name": "stdout", "text": self.text()}
        fields = self.chance.choice([{"outputs": [output]}, {}])
        write_lesson(self.book / name, "1 + 1" if fields else self.text(), "2 + 2", **fields)
        self.saved[name] = (self.book / name).read_bytes()

    def reload(self):
        for name in (LESSON, SECOND):
            opened = json.loads((self.book / name).read_bytes())
            opened["metadata"]["language_info"] = {"name": "python", "version": "3.11.2"}
            if name not in self.saved:  # Lab writes the Python version into the metadata
                (self.book / name).write_text(json.dumps(opened))

    def rename(self):
        for name in list(self.saved):
            if name in (LESSON, SECOND):
                mine = f"notebooks/mine_{self.chance.randrange(10**9)}.ipynb"
                (self.book / name).rename(self.book / mine)
                self.saved[mine] = self.saved.pop(name)
        cli.main(["start", "--update", str(self.book)])

    def reset(self):
        cli.main(["reset", "brighten"])

    def update(self):
        self.version += self.chance.randrange(2)
        for name in (LESSON, SECOND, TASK):
            write_lesson(self.project / name, "1 + 1", f"version = {self.version}")
        assert cli.main(["start", "--update", str(self.book)]) == 0
        for name in {LESSON, SECOND, TASK} - self.saved.keys():
            mine, newest = ((at / name).read_bytes() for at in (self.book, self.project))
            same = workbook.fingerprint(name, mine) == workbook.fingerprint(name, newest)
            assert same, f"{name} was not changed and not renewed"

    def lost(self):
        """Return the names of everything that is lost."""
        answers = [path.read_bytes() for path in self.exercise.place.glob("answer*.py")]
        lost = [name for name, was in self.saved.items() if (self.book / name).read_bytes() != was]
        lost += [was for was in self.written if not any(was in answer for answer in answers)]
        if self.cell and not any(self.cell.encode() in answer for answer in answers):
            lost.append(self.cell)
        state = progress.state(self.exercise)
        return lost + ([f"the grade is {state}"] if self.best == "right" != state else [])


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.costly
def test_nothing_is_lost_in_any_order(project, book, monkeypatch, capsys, seed):
    monkeypatch.setenv("GPUKIT_EXERCISES", str(project / "exercises"))
    monkeypatch.chdir(book)
    reader = Reader(seed, project, book)
    steps = (
        reader.solve_in_a_cell,
        reader.edit_the_answer,
        reader.save,
        reader.reload,
        reader.rename,
        reader.reset,
        reader.update,
    )
    for step in reader.chance.choices(steps, k=STEPS):
        step()
        assert reader.lost() == [], step.__name__
