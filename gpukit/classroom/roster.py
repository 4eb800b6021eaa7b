"""The list of a course: who the folders of a class belong to, in Canvas's and Moodle's words.

A roster is a CSV file with a header row: what Canvas or Moodle exports, or one written by hand
with the columns id, name, email, section and canvas id, of which all but one may be missing.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from gpukit.classroom import escape
from gpukit.errors import GpukitError

# The usual spellings of each column, in lower case and with single spaces between words.
_HEADERS = {
    "name": ("student", "student name", "full name", "name", "sortable name"),
    "first": ("first name", "firstname", "given name"),
    "last": ("last name", "lastname", "surname", "family name"),
    "email": ("email address", "email", "e mail", "e mail address", "mail"),
    "section": ("section", "sections", "group", "groups"),
    "canvas": ("canvas id", "canvas user id"),
    "sis": ("sis user id", "sis id", "id number", "idnumber", "student id", "student number"),
    "login": ("sis login id", "login id", "login", "username", "user name", "netid"),
    "participant": ("identifier",),  # "Participant 123", in a grading worksheet of Moodle
    "id": ("id",),
}
_IDENTIFYING = ("id", "login", "email", "sis", "canvas", "name", "first", "last", "participant")
# A folder of the archive of all submissions that Moodle makes.
_MOODLE_FOLDER = re.compile(r"(.+)_(\d+)_assignsubmission_\w+")


class RosterError(GpukitError):
    """A roster cannot be read, or none of its columns says who somebody is."""


@dataclass(frozen=True)
class Person:
    """One row of a roster; a field is "" where its column is missing.

    `canvas` is the id that Canvas gave, `sis` that of the student information system.
    """

    name: str = ""
    email: str = ""
    section: str = ""
    canvas: str = ""
    sis: str = ""
    login: str = ""
    id: str = ""
    participant: str = ""

    @property
    def spellings(self) -> list[set[str]]:
        """What a folder of this person may be called, the surest first."""
        last, comma, first = (part.strip() for part in self.name.partition(","))
        turned = f"{first} {last}" if comma else ""
        ids = {self.id, self.login, self.email, self.sis, self.canvas, self.participant}
        return [
            _folded(ids),
            _folded({self.email.partition("@")[0], self.login.partition("@")[0]}),
            _folded({self.name, turned, *(re.sub(r"[\W_]", "", n) for n in (self.name, turned))}),
        ]


class Matches(NamedTuple):
    """Who the folders of a class belong to."""

    people: dict[str, Person]  # of each folder that names exactly one, and no other folder does
    reasons: dict[str, str]  # why each other folder has nobody
    without_folder: list[Person]


@dataclass(frozen=True)
class Roster:
    """The people of a course, and the header row of the file that lists them."""

    people: tuple[Person, ...] = ()
    headers: tuple[str, ...] = ()

    def matched(self, students: Iterable[str]) -> Matches:
        """Return the person of each student's folder, or why there is none."""
        indices = [self._by_spelling(rank) for rank in range(3)]
        named = {student: _of(student, indices) for student in students}
        folders: dict[Person, list[str]] = {}
        for student, people in named.items():
            if len(people) == 1:
                folders.setdefault(people[0], []).append(student)
        reasons = {student: _reason(student, people, folders) for student, people in named.items()}
        with_folder = {person for people in named.values() for person in people}
        return Matches(
            {student: named[student][0] for student, reason in reasons.items() if not reason},
            {student: reason for student, reason in reasons.items() if reason},
            [person for person in self.people if person not in with_folder],
        )

    def _by_spelling(self, rank: int) -> dict[str, list[Person]]:
        index: dict[str, list[Person]] = {}
        for person in self.people:
            for spelling in person.spellings[rank]:
                index.setdefault(spelling, []).append(person)
        return index

    def column(self, exercise: str) -> str:
        """Return the header of an exercise in the file, such as `zip_add (1234)`, or its name.

        The number is that of an assignment in Canvas, which would create another one without it.
        """
        names = {_words(re.sub(r" *\(\d+\)$", "", header)): header for header in self.headers}
        return names.get(_words(exercise), exercise)


def _of(student: str, indices: list[dict[str, list[Person]]]) -> list[Person]:
    """Return whom the surest spelling names, which may be several."""
    moodle = _MOODLE_FOLDER.fullmatch(student)
    names = [f"participant {moodle[2]}", moodle[1]] if moodle else [student]
    for index in indices:
        for name in names:
            if people := index.get(_fold(name)):
                return people
    return []


def _reason(student: str, people: list[Person], folders: dict[Person, list[str]]) -> str:
    """Return why a folder that names these people belongs to nobody; nothing if it does."""
    if len(people) != 1:
        return "several rows of the roster" if people else "no row of the roster"
    others = [escape.name(folder, 40) for folder in folders[people[0]] if folder != student]
    return f"the same person as {', '.join(others)} (keep one folder)" if others else ""


def _folded(names: Iterable[str]) -> set[str]:
    return set(map(_fold, names)) - {""}


def _fold(name: str) -> str:
    """Return a name without case; macOS writes accents in names of folders as characters."""
    return unicodedata.normalize("NFC", name).strip().casefold()


def _words(header: str) -> str:
    """Return the words of a header in lower case.

    >>> _words("E-mail_Address ")
    'e mail address'
    """
    return " ".join(re.split(r"[\W_]+", header.casefold())).strip()


def read(file: Path) -> Roster:
    """Read a roster; raise RosterError, which says what to do, if it is none."""
    text = _decoded(file)
    first = text.lstrip("\r\n").partition("\n")[0]
    separator = max(",;\t", key=first.count)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    except csv.Error as error:
        raise RosterError(f"{file}: expected a CSV file, got: {error}. {_EXPORT}") from error
    rows = [row for row in rows if any(map(str.strip, row))]
    headers = [header.strip() for header in rows[0]] if rows else []
    columns = _columns(headers)
    if not any(name in columns for name in _IDENTIFYING):
        raise RosterError(
            f"{file}: expected a header row with a column such as id, name or email, got "
            f"{escape.line(', '.join(headers), 80) or 'nothing'}. {_EXPORT}"
        )
    people = (_person(row, columns) for row in rows[1:] if "points possible" not in row[0].lower())
    known = dict.fromkeys(person for person in people if any(person.spellings))
    return Roster(tuple(known), tuple(headers))


_EXPORT = (
    "Export the gradebook of Canvas or the grades of Moodle as CSV, or write the columns id, name, "
    "email and section."
)


def _decoded(file: Path) -> str:
    """Return the text of a file in UTF-8, or in UTF-16 with a byte order mark."""
    try:
        data = file.read_bytes()
        is_utf16 = data.startswith((b"\xff\xfe", b"\xfe\xff"))
        return data.decode("utf-16" if is_utf16 else "utf-8-sig")
    except OSError as error:
        raise RosterError(f"{file}: cannot be read: {error.strerror}. Name a CSV file.") from error
    except UnicodeError as error:
        raise RosterError(
            f"{file}: expected text in UTF-8, got another encoding. Save it as CSV UTF-8."
        ) from error


def _columns(headers: list[str]) -> dict[str, int]:
    """Return the column of each field; the first of several."""
    words = [_words(header) for header in headers]
    found = {
        field: min(words.index(name) for name in names if name in words)
        for field, names in _HEADERS.items()
        if any(name in words for name in names)
    }
    # In Canvas's own export, "ID" is the number that Canvas gave.
    if "id" in found and "canvas" not in found and {"student", "sis login id"} & set(words):
        found["canvas"] = found.pop("id")
    return found


def _person(row: list[str], columns: dict[str, int]) -> Person:
    fields = {
        field: escape.unescaped(row[place]) if place < len(row) else ""
        for field, place in columns.items()
    }
    first, last = fields.pop("first", ""), fields.pop("last", "")
    if first or last:
        fields["name"] = fields.get("name") or ", ".join(filter(None, [last, first]))
    return Person(**fields)
