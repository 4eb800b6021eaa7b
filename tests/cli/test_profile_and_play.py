"""`gpukit profile` and `gpukit play`."""

import json
from pathlib import Path

from gpukit import cli
from tests.cli.watched import RACE_LINE, SOUND, WARNED, WRONG


def test_profile_prints_a_table_for_every_launch(script, capsys):
    assert cli.main(["profile", script(SOUND + WARNED)]) == 0
    words = capsys.readouterr().out
    assert "fill_kernel" in words
    assert "half_kernel" in words
    assert "out[i] = 0.1 * x[i]" in words


def test_profile_json_contains_the_counters_of_each_launch(script, capsys):
    assert cli.main(["profile", "--json", script(SOUND + WARNED)]) == 0
    first, second = json.loads(capsys.readouterr().out)
    assert (first["kernel"], second["kernel"]) == ("fill_kernel", "half_kernel")


def test_profile_of_an_incorrect_kernel_exits_with_0(script, capsys):
    assert cli.main(["profile", script(WRONG)]) == 0


def test_play_writes_a_page_for_each_launch(script, capsys):
    assert cli.main(["play", "--folder", "pages", script(SOUND + WARNED)]) == 0
    names = sorted(p.name for p in Path("pages").iterdir())
    assert names == ["01_fill_kernel.html", "02_half_kernel.html"]
    words = capsys.readouterr().out
    assert all(f"wrote {Path('pages') / name}" in words for name in names)


def test_play_prints_the_findings_shown_in_its_pages(script, capsys):
    cli.main(["play", script(SOUND + WRONG)])
    shown = capsys.readouterr().out
    assert "\nerror: global-race at script.py:" in shown
    assert f":{RACE_LINE} in collide_kernel" in shown
    assert "What to do: " in shown


def test_play_of_correct_launches_ends_with_how_to_open_the_pages(script, capsys):
    cli.main(["play", script(SOUND)])
    assert capsys.readouterr().out.endswith("the arrow keys step forward and back.\n")


def test_play_says_when_it_replaces_a_page(script, capsys):
    pages = ["play", "--folder", "pages", script(SOUND)]
    assert (cli.main(pages), cli.main(pages)) == (0, 0)
    assert f"replaced {Path('pages') / '01_fill_kernel.html'}" in capsys.readouterr().out


def test_play_records_only_the_first_launches_and_runs_the_others(script, capsys):
    text = f"for _ in range(4):\n    out[:] = 0\n    {SOUND}print(out[69])"
    assert cli.main(["play", "--launches", "2", script(text)]) == 0
    assert len(list(Path("gpukit-play").iterdir())) == 2
    assert capsys.readouterr().out.startswith("69.0\n")


def test_play_json_lists_the_pages(script, capsys):
    assert cli.main(["play", "--json", "--folder", "pages", script(SOUND)]) == 0
    (page,) = json.loads(capsys.readouterr().out)
    assert Path(page).read_text(encoding="utf-8").startswith("<!doctype html>")
