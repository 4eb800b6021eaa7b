"""The corpora of submissions to grade: hostile and honest ones.

`tests/data/submissions/hostile.toml` says what the keys of both files mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from gpukit.course import catalogue
from tests.classroom import notebooks, recipes
from tests.conftest import ROOT

SUBMISSIONS = ROOT / "tests" / "data" / "submissions"
STATUSES = frozenset(
    "right but wrong error timeout died missing protocol syntax untouched rejected absent".split()
)
EARNING = frozenset({"right", "but"})  # statuses that give points
# Where the marks of harm are looked for: hostile.toml says which marks there are.
ESCAPED, SURVIVOR, PORT = "GPUKIT_ESCAPED_", "GPUKIT_SURVIVOR_", 47811

Points = Literal[0, "merit", "open"]


@dataclass(frozen=True)
class Case:
    """One submission to one exercise, and what must come of it.

    `expect` holds the acceptable statuses; `points` is 0, or "merit" if the answer gets those of
    its status. `without_rules` is the same where the rules are left out; "open" means anything.
    """

    id: str
    exercise: str
    sentence: str
    folder: str
    expect: frozenset[str] = frozenset({"right"})
    points: Points = 0
    without_rules: Points = 0
    heavy: bool = False
    grade_only: bool = False
    student: str = ""
    file: str = ""
    path: str = ""
    fill: dict[str, str] = field(default_factory=dict)
    repeat: dict[str, tuple[str, int]] = field(default_factory=dict)
    encoding: str = "utf-8"
    newline: str = "\n"
    recipe: str = ""
    notebook: str = ""

    @property
    def source(self) -> Path:
        """The file that is handed in; a recipe may need none."""
        return SUBMISSIONS / self.folder / (self.file or f"{self.id}.py")

    @property
    def place(self) -> str:
        """Where it lies in the folder of submissions."""
        usual = "work.ipynb" if self.notebook else f"EXERCISE{self.source.suffix}"
        path = (self.path or f"STUDENT/{usual}").replace("EXERCISE", self.exercise)
        return path.replace("STUDENT", self.student or self.id)

    def data(self) -> bytes:
        """Return the bytes to hand in, empty where the recipe needs none."""
        if not self.source.exists():
            return b""
        text = self.source.read_text(encoding="utf-8")
        repeated = {word: part * times for word, (part, times) in self.repeat.items()}
        for word, instead in {**self.fill, **repeated, "CASE_ID": self.id}.items():
            text = text.replace(word, instead)
        return text.replace("\n", self.newline).encode(self.encoding)


def hostile() -> Iterator[Case]:
    """Yield the submissions that attack the grader or are no submissions."""
    for table in _tables("hostile"):
        expect = frozenset(table.pop("expect"))
        if table.get("heavy") and expect & EARNING:
            expect |= {"timeout"}  # a slow machine may not get to its end
        yield Case(folder="hostile", sentence=table.pop("attempts"), expect=expect, **table)


def honest() -> Iterator[Case]:
    """Yield right answers as people write them."""
    for table in _tables("honest"):
        sentence = table.pop("variant")
        yield Case(folder="honest", sentence=sentence, points="merit", **table)


def _tables(name: str) -> list[dict[str, Any]]:
    return [dict(t) for t in catalogue.tables(SUBMISSIONS / f"{name}.toml")["case"]]


def attacker(file: Path, folder: Path) -> str:
    """Return the student whose submission `place` has put somewhere: others may be there, too."""
    first, *rest = file.relative_to(folder).parts
    return rest[0] if first == "submitted" and rest else first


def place(case: Case, folder: Path) -> Path:
    """Put a submission into a folder of submissions; return its file.

    Raises OSError where this system or this user cannot create it, such as a device.
    """
    file = folder / case.place
    file.parent.mkdir(parents=True, exist_ok=True)
    if case.recipe:
        getattr(recipes, case.recipe)(file, case.data())
    elif case.notebook:
        getattr(notebooks, case.notebook)(file, case.data())
    else:
        file.write_bytes(case.data())
    return file
