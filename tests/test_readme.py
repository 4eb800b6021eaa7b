"""The README: its code runs, and its links, commands and exercises exist."""

import re
from pathlib import Path

import pytest

from gpukit.bench import readme_table
from gpukit.cli import parser

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
LINES = README.splitlines()

LINKS = sorted(set(re.findall(r"\]\(([^)#: ]+)\)", README)))
COMMANDS = sorted(
    set(re.findall(r"gpukit (\w+)", "\n".join(re.findall(r"`gpukit [^`]+`", README))))
)
EXERCISES = sorted(set(re.findall(r"`gpukit test (\w+)`", README)))
TARGETS = sorted(set(re.findall(r"(?:\$ |`)make (\w+)", README)))


def python_blocks(lines: list[str]) -> str:
    """Return the Python blocks as one script with the line numbers of the README."""
    script, inside = [], False
    for line in lines:
        if line.startswith("```"):
            inside = line == "```python"
            script.append("")
        else:
            script.append(line if inside else "")
    return "\n".join(script) + "\n"


@pytest.mark.slow
def test_python_blocks_run(fresh_python, tmp_path):
    file = tmp_path / "README.py"
    file.write_text(python_blocks(LINES), encoding="utf-8")
    done = fresh_python(str(file), folder=tmp_path)  # which saves player.html
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "player.html").exists()


@pytest.mark.slow
def test_the_bad_index_in_the_readme_is_reported_with_block_and_thread(fresh_python, tmp_path):
    file = tmp_path / "README.py"
    file.write_text(python_blocks(LINES), encoding="utf-8")
    shown = fresh_python(str(file), folder=tmp_path, GPUKIT_TARGET="cpu").stdout
    assert all(word in shown for word in ("vector_add_kernel", "(500,)", "block", "thread"))


def test_the_first_python_block_begins_before_line_25():
    assert LINES.index("```python") < 25


def test_the_readme_has_at_most_120_lines_without_its_table_of_variants():
    table = README.partition(readme_table.BEGIN)[2].partition(readme_table.END)[0]
    assert len(LINES) - len(table.splitlines()) <= 120


@pytest.mark.parametrize("link", LINKS)
def test_a_link_leads_to_a_file(link):
    assert (ROOT / link).exists()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_exists(command, capsys):
    with pytest.raises(SystemExit) as stop:
        parser.build().parse_args([command, "--help"])
    assert not stop.value.code


@pytest.mark.parametrize("name", EXERCISES)
def test_an_exercise_exists(name):
    assert len(list(ROOT.glob(f"exercises/*/{name}/exercise.toml"))) == 1


def test_the_readme_has_the_right_number_of_exercises():
    (number,) = re.findall(r"The (\d+) exercises", README)
    assert int(number) == len(list(ROOT.glob("exercises/*/*/exercise.toml")))


@pytest.mark.parametrize("target", TARGETS)
def test_a_make_target_exists(target):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE)


def test_the_readme_activates_the_environment_after_make():
    after = README.partition("$ make lab")[2].partition("```python")[0]
    assert "source .venv/bin/activate" in after


def test_no_advice_installs_gpukit_from_a_package_index():
    install = re.compile(r"install[^\n]* ['\"]?gpukit\[")
    files = [*(ROOT / "gpukit").rglob("*.py"), ROOT / "README.md"]
    assert [f.name for f in files if install.search(f.read_text(encoding="utf-8"))] == []
