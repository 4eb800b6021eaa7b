"""A teacher's course in a temporary folder."""

import shutil

from gpukit.classroom import new
from gpukit.course import catalogue


def begin(tmp_path, monkeypatch):
    """Make a course with one exercise, 01_maps/scale, the current folder; return the exercise."""
    monkeypatch.delenv("GPUKIT_EXERCISES", raising=False)
    monkeypatch.chdir(tmp_path)
    return new.make("01_maps/scale")


def edit(exercise, file, old, new):
    """Replace a text, which must be there once, in a file; return the exercise as it is now.

    It is a copy in another folder: modules are loaded once.
    """
    number = len(list(exercise.folder.parents[1].glob("*/*")))
    folder = exercise.folder.parents[1] / f"{number:02}_edited" / exercise.name
    shutil.copytree(exercise.folder, folder)
    text = (folder / file).read_text(encoding="utf-8")
    assert text.count(old) == 1
    (folder / file).write_text(text.replace(old, new), encoding="utf-8")
    return catalogue.read(folder)
