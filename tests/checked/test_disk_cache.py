"""The checker's cache on the disk where its folder cannot be written to, as in a sandbox."""

import tempfile
from pathlib import Path

import pytest
from numba.core import config
from numba.core.caching import FunctionCache

from gpukit.checked.engine import disk_cache


def refuse(*_, **__):
    raise OSError("read-only")


def function():
    """Stand for a function that is compiled."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the folder of a function's cache, to which nothing can be written."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    made = Path(disk_cache.Cache(function).cache_path)
    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    return made


def test_a_folder_that_is_there_is_read(folder):
    assert folder.is_dir()
    assert Path(disk_cache.Cache(function).cache_path) == folder


def test_a_function_that_cannot_be_saved_stays_compiled(folder, monkeypatch):
    cache = disk_cache.Cache(function)
    monkeypatch.setattr(FunctionCache, "save_overload", refuse)
    cache.save_overload("a signature", "a function")
