"""The afternoon of docs/teaching.md: its commands work, and print what the page shows."""

import re
import shlex

import pytest

from gpukit import cli
from tests.conftest import ROOT

pytestmark = pytest.mark.slow
PAGE = (ROOT / "docs" / "teaching.md").read_text(encoding="utf-8")
AFTERNOON = PAGE.partition("## An afternoon")[2].partition("\n## ")[0]
COMMANDS = re.findall(r"^\$ gpukit (.+)$", AFTERNOON, re.MULTILINE)


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """Work where the clone's exercises and tests are seen, and nothing is written to them."""
    monkeypatch.setenv("GPUKIT_EXERCISES", str(ROOT / "exercises"))
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_page_shows_commands():
    assert [command.split()[0] for command in COMMANDS] == ["release", "grade"]


def test_the_commands_give_what_the_page_shows(clone, capsys, isolation):
    for command in COMMANDS:
        capsys.readouterr()
        assert cli.main(shlex.split(command)) == 0
    shown = re.search(r"class begin -->\n\n```console\n(.*?)\n```", AFTERNOON, re.DOTALL)
    printed = re.sub("isolation: .*", "isolation: bubblewrap", capsys.readouterr().out)
    assert shown is not None
    assert printed.strip() == shown[1]
    made = {file.name for file in (clone / "grades").iterdir()}
    assert {"grades.csv", "canvas.csv", "moodle.csv", "junit.xml", "class.md", "reports"} <= made
    assert {file.name for file in (clone / "ps1").rglob("*.py")}.isdisjoint({"solution.py"})
