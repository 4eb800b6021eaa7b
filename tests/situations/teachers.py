"""Situations of those who make, release, export and grade exercises."""

from tests.situations.obstacles import EXERCISE, Situation

TEACHERS = [
    Situation(
        "an exercise to be made in a read-only folder",
        "new 02_more/other",
        3,
        ("cannot write", "02_more/other: permission denied", "--folder FOLDER"),
        "read_only",
    ),
    Situation(
        "an exercise to be made on a full disk",
        "new 02_more/other",
        3,
        ("cannot write", "Make room on its disk", "--folder FOLDER"),
        "full_disk",
        never=("Created",),
    ),
    Situation(
        "a students' copy in a read-only folder",
        f"release copy {EXERCISE}",
        3,
        ("cannot write", "permission denied", "Name a folder that"),
        "read_only",
    ),
    Situation(
        "a students' copy on a full disk",
        f"release copy {EXERCISE}",
        3,
        ("cannot write", "Make room on its disk"),
        "full_disk",
        never=("Released",),
    ),
    Situation(
        "export to a folder in use",
        f"export {EXERCISE} --to zip --out taken",
        2,
        ("got taken, which contains other files, such as 01_fill_kernel.html", "Choose another"),
    ),
    Situation(
        "export to what is no folder",
        f"export {EXERCISE} --to zip --out blocked/new",
        3,
        ("cannot write blocked/new", "a file, not a folder"),
        never=("Wrote",),
    ),
    Situation(
        "export to a read-only folder",
        f"export {EXERCISE} --to nbgrader --out new",
        3,
        ("cannot write new", "permission denied", "Choose another folder"),
        "read_only",
        never=("Wrote",),
    ),
    Situation(
        "export to a full disk",
        f"export {EXERCISE} --to gradescope --out new",
        3,
        ("cannot write", "Make room on its disk"),
        "full_disk",
        never=("Wrote",),
    ),
    Situation(
        "an exercise to verify that is misspelt",
        "verify garded_map",
        2,
        ("got 'garded_map'", "Did you mean guarded_map?"),
    ),
    Situation(
        "a class that is not there",
        "grade nowhere --out grades",
        2,
        ("expected a folder with one folder per student, got nowhere",),
    ),
]
