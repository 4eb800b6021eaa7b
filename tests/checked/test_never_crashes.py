"""The checker survives random kernels with random mistakes.

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

SEED, COUNT, TOGETHER, LIMIT = 4, 60, 12, 120
pytestmark = pytest.mark.skipif(
    target.wanted() == "cuda", reason="checked mode runs on the CPU, whatever the target"
)

BAD = {
    "dies": "import os; os._exit(3)",
    "sleeps": "import time; time.sleep(600)",
    "never ends": "exec('while True: pass')",
}


def answers(first: int) -> list[dict[str, Any]]:
    """Return the outcomes of TOGETHER kernels."""
    return list(buggy_parent.outcomes(SEED, range(first, first + TOGETHER), LIMIT))


@pytest.mark.random
@pytest.mark.slow
@pytest.mark.parametrize("first", often.each(range(0, COUNT, TOGETHER), COUNT // TOGETHER))
def test_random_kernels_give_a_report_or_a_documented_error(first: int) -> None:
    for answer in answers(first):
        source = buggy.make(SEED, answer["number"]).script()
        assert not answer["trouble"], f"{answer['trouble']}\nThe kernel:\n{source}"


@pytest.mark.random
@pytest.mark.slow
@pytest.mark.exhaustive
def test_most_random_kernels_run_and_cover_many_kinds_of_findings() -> None:
    ended = [answer for first in range(0, COUNT, TOGETHER) for answer in answers(first)]
    kinds = Counter(kind for answer in ended for kind in answer["kinds"])
    assert sum(not answer["refused"] for answer in ended) > COUNT * 2 / 3
    assert len(kinds) >= 10, kinds


def test_seed_and_number_determine_the_kernel() -> None:
    assert buggy.make(7, 12).script() == buggy.make(7, 12).script()
    assert buggy.make(7, 12).kernel != buggy.make(8, 12).kernel


def test_write_outside_an_array_fails_the_test(tmp_path: Any) -> None:
    text = buggy.HEAD + (
        "\n\ndef kernel_0():\n    GUARDED[0][3] = 1\n\n\n"
        "def arguments_0():\n    return (guarded((5,), np.int8),)\n\n\nLAUNCHES = {0: (1, 1)}\n"
    )
    module = buggy_child.load(tmp_path / "made_beside.py", text)

    def command(kernel: Any) -> Any:
        return {(1, 1): lambda *_: kernel()}

    with pytest.raises(buggy_child.Wrong, match="beside an array"):
        buggy_child.launch(module, 0, command)


def test_irreproducible_findings_fail_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = iter(["ArgumentError: one", "ArgumentError: two"])
    monkeypatch.setattr(buggy_child, "once", lambda module, number: next(outcomes))
    answer = buggy_child.judge(None, 1)
    assert "two checks of the same launch differ" in answer["trouble"]


def test_undocumented_error_fails_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    def launch(*_: Any) -> None:
        raise RecursionError("far too deep")

    monkeypatch.setattr(buggy_child, "launch", launch)
    assert "far too deep" in buggy_child.judge(None, 1)["trouble"]


@pytest.mark.parametrize("child", BAD)
@pytest.mark.costly
def test_run_continues_after_a_kernel_that(child: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The exit status of the process shows how the kernel failed."""
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


def test_interrupted_run_resumes(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    requests: list[int] = []

    def outcomes(seed: int, numbers: Any, limit: int) -> Any:
        for number in numbers:
            requests.append(number)
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
    assert requests == list(range(450))
    assert "| with misaligned | 450 |" in capsys.readouterr().out
