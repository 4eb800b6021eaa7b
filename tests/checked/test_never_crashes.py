"""The checker lives through kernels made at random with random mistakes.

benchmarks/never_crashes.py does the same with thousands of them.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from benchmarks import never_crashes
from gpukit import target
from tests import often
from tests.checked import buggy, buggy_child, buggy_parent

SEED, COUNT, TOGETHER, LIMIT = 4, 60, 20, 120
pytestmark = pytest.mark.skipif(
    target.wanted() == "cuda", reason="checked mode runs on the CPU; one such run is enough"
)

BAD = {
    "dies": "import os; os._exit(3)",
    "sleeps": "import time; time.sleep(600)",
    "never ends": "exec('while True: pass')",
}


def answers(first: int) -> list[dict[str, Any]]:
    """Return how TOGETHER kernels ended."""
    return list(buggy_parent.outcomes(SEED, range(first, first + TOGETHER), LIMIT))


@pytest.mark.random
@pytest.mark.slow
@pytest.mark.parametrize("first", often.each(range(0, COUNT, TOGETHER), COUNT // TOGETHER))
def test_kernels_made_at_random_give_a_report_or_a_documented_error(first: int) -> None:
    for answer in answers(first):
        source = buggy.make(SEED, answer["number"]).script()
        assert not answer["trouble"], f"{answer['trouble']}\nThe kernel:\n{source}"


@pytest.mark.random
@pytest.mark.slow
@pytest.mark.exhaustive
def test_most_kernels_made_at_random_reach_the_checker_and_have_many_kinds_of_mistakes() -> None:
    ended = [answer for first in range(0, COUNT, TOGETHER) for answer in answers(first)]
    kinds = Counter(kind for answer in ended for kind in answer["kinds"])
    assert sum(not answer["refused"] for answer in ended) > COUNT * 2 / 3
    assert len(kinds) >= 10, kinds


def test_the_same_seed_and_number_make_the_same_kernel() -> None:
    assert buggy.make(7, 12).script() == buggy.make(7, 12).script()
    assert buggy.make(7, 12).kernel != buggy.make(8, 12).kernel


def test_a_write_beside_an_array_is_noticed(tmp_path: Any) -> None:
    text = buggy.HEAD + (
        "\n\ndef kernel_0():\n    GUARDED[0][3] = 1\n\n\n"
        "def arguments_0():\n    return (made((5,), np.int8),)\n\n\nLAUNCHES = {0: (1, 1)}\n"
    )
    module = buggy_child.load(tmp_path / "made_beside.py", text)

    def command(kernel: Any) -> Any:
        return {(1, 1): lambda *_: kernel()}

    with pytest.raises(buggy_child.Wrong, match="beside an array"):
        buggy_child.launch(module, 0, command)


def test_two_checks_that_differ_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    said = iter(["ArgumentError: one", "ArgumentError: two"])
    monkeypatch.setattr(buggy_child, "once", lambda module, number: next(said))
    answer = buggy_child.judge(None, 1)
    assert "two checks of the same launch differ" in answer["trouble"]


def test_an_error_that_is_not_documented_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def launch(*_: Any) -> None:
        raise RecursionError("far too deep")

    monkeypatch.setattr(buggy_child, "launch", launch)
    assert "far too deep" in buggy_child.judge(None, 1)["trouble"]


@pytest.mark.parametrize("child", BAD)
@pytest.mark.costly
def test_the_run_goes_on_behind_a_kernel_that(child: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a kernel is told apart by how its process ended."""
    program = (
        "import sys\n"
        "from tests.checked import buggy_child\n"
        "def judge(module, number):\n"
        "    if number == 1:\n"
        f"        {BAD[child]}\n"
        "    return {'number': number, 'kinds': {}, 'refused': '', 'trouble': '', 'seconds': 1}\n"
        "buggy_child.judge, buggy_child.warm_up, buggy_child.ASLEEP = judge, print, 2\n"
        "sys.exit(buggy_child.main(sys.argv[1:]))\n"
    )
    monkeypatch.setattr(buggy_parent, "CHILD", ("-c", program))
    ended = list(buggy_parent.outcomes(1, range(4), 1))
    assert [a["number"] for a in ended] == [0, 1, 2, 3]
    assert [bool(a["trouble"]) for a in ended] == [False, True, False, False]
    assert (ended[1]["crashed"], ended[1]["hung"]) == (child == "dies", child != "dies")


def test_the_long_run_goes_on_where_it_ended(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[int] = []

    def outcomes(seed: int, numbers: Any, limit: int) -> Any:
        for number in numbers:
            asked.append(number)
            yield {
                "number": number,
                "kinds": {"misaligned": 2},
                "refused": "",
                "trouble": "",
                "seconds": 0.5,
            }

    monkeypatch.setattr(buggy_parent, "outcomes", outcomes)
    arguments = ["--seed", "3", "--json", str(tmp_path / "made.json")]
    assert never_crashes.main([*arguments, "--count", "230"]) == 0
    assert never_crashes.main([*arguments, "--count", "450"]) == 0
    assert asked == list(range(450))
    assert "| with misaligned | 450 |" in capsys.readouterr().out
