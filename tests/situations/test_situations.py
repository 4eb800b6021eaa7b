"""Commands in adverse environments end with one sentence and lose no data.

The situations are in `table`, the failures of the environment in `obstacles`.
"""

import contextlib
import os
import re
import shlex
import subprocess
import sys

import pytest

from gpukit import cli
from gpukit.bench import ceilings, timing
from tests.conftest import ROOT
from tests.situations.obstacles import OBSTACLES, make_folder, theirs
from tests.situations.table import SITUATIONS
from tests.situations.teachers import TEACHERS


def never(*_arguments, **_named):
    pytest.fail("measured before it was known that the result can be written")


@pytest.mark.parametrize("situation", [*SITUATIONS, *TEACHERS], ids=lambda s: s.name)
@pytest.mark.costly
def test_situation_ends_in_a_sentence_and_nothing_is_lost(situation, tmp_path, monkeypatch, capsys):
    folder = make_folder(tmp_path)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("GPUKIT_EXERCISES", str(folder / "exercises"))
    monkeypatch.setattr(timing, "run", never)
    monkeypatch.setattr(ceilings, "measure", never)
    monkeypatch.delenv("COLUMNS", raising=False)
    obstacle = OBSTACLES.get(situation.obstacle, lambda *_: contextlib.nullcontext())
    with obstacle(folder, monkeypatch):
        kept = theirs(folder)
        try:
            code = cli.main(shlex.split(situation.command))
        except SystemExit as stop:
            code = stop.code
    shown = capsys.readouterr()
    output = " ".join((shown.out + shown.err).split())
    assert "Traceback" not in output
    if situation.obstacle == "narrow":
        assert [line for line in shown.out.splitlines() if len(line) > 40] == []
    assert [words for words in situation.says if words not in output] == [], output
    assert [words for words in situation.never if words in output] == []
    assert code == situation.code
    after = theirs(folder)
    assert {name: after.get(name) for name in kept} == kept
    assert [name for name in after if re.search("unfinished|tmp", name)] == []


@pytest.mark.slow
def test_two_processes_may_fill_one_cache_concurrently(tmp_path):
    folder = make_folder(tmp_path)
    environment = {
        **os.environ,
        "GPUKIT_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
    }
    command = [sys.executable, "-m", "gpukit.cli", "run", "script.py"]
    both = [
        subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        for _ in range(2)
    ]
    ends = [(one.communicate(timeout=300)[0], one.returncode) for one in both]
    assert ends == [(b"", 0)] * 2
    kept = [file.name for file in (folder / "cache").rglob("*") if file.is_file()]
    assert kept
    assert [name for name in kept if re.search("unfinished|tmp", name)] == []
