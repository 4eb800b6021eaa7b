"""`gpukit estimate`."""

import json

from gpukit import cli
from tests.cli.watched import SOUND, WARNED


def test_estimate_prints_a_row_for_each_launch_and_gpu(script, capsys):
    assert cli.main(["estimate", "--gpu", "RTX 3080", "--gpu", "V100", script(SOUND + WARNED)]) == 0
    words = capsys.readouterr().out
    rows = [line for line in words.splitlines() if line.startswith(("fill_kernel", "half_kernel"))]
    assert [("V100" in row, "RTX 3080" in row) for row in rows] == [
        (False, True),
        (True, False),
    ] * 2


def test_estimate_of_one_launch_says_what_limits_it(script, capsys):
    assert cli.main(["estimate", script(SOUND)]) == 0
    assert "limit   launch overhead" in capsys.readouterr().out


def test_estimate_json_has_the_gpu_of_each_estimate(script, capsys):
    assert cli.main(["estimate", "--json", "--gpu", "T4", script(SOUND)]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["gpu"], found["likely"]) == ("T4", None)


def test_estimate_for_an_unknown_gpu_is_misuse(script, capsys):
    assert cli.main(["estimate", "--gpu", "Voodoo", script(SOUND)]) == 2
    assert "expected a GPU, got 'Voodoo'. Available: RTX A6000" in capsys.readouterr().err


def test_estimate_of_a_script_without_launches_says_so(script, capsys):
    assert cli.main(["estimate", script("x = 1")]) == 0
    assert "Nothing was estimated" in capsys.readouterr().out


def test_estimate_without_a_gpu_is_for_the_one_of_the_environment(script, capsys, monkeypatch):
    monkeypatch.setenv("GPUKIT_GPU", "rtx 3060")
    assert cli.main(["estimate", "--json", script(SOUND)]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["gpu"] == "RTX 3060"
