"""`pytest --gpukit-check` on small suites, each in a process of its own."""

import json
import sys
from xml.etree import ElementTree

import pytest

from tests.conftest import ROOT
from tests.testing.suites import CLEAN, KERNELS, KNOWN, MAIN, UNIT, line_of, run

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SHIFT, BEYOND = line_of("a[i] = a[i + 1]"), line_of("a[cuda.grid(1)] = 1")
STALE = {"kind": "global-race", "file": "gone.py", "kernel": "gone_kernel", "source": "x[0] = 1"}


@pytest.fixture(scope="module")
def main(tmp_path_factory):
    """A suite with a mistake of every kind, a baseline that its first run wrote, and JUnit."""
    folder = tmp_path_factory.mktemp("main")
    baseline = folder / "known.json"
    options = ["--gpukit-check", "--gpukit-baseline", baseline.name]
    wrote = run(folder, *options, "--gpukit-baseline-write", test_known=KNOWN)
    assert wrote.code == 0
    assert f"Wrote 1 finding to {baseline}" in wrote.text
    data = json.loads(baseline.read_text())
    data["findings"].append(STALE)
    baseline.write_text(json.dumps(data))
    done = run(folder, *options, "--gpukit-junit", "found.xml", test_main=MAIN)
    return done, ElementTree.parse(folder / "found.xml").getroot()


@pytest.fixture
def done(main):
    """The run of that suite."""
    return main[0]


OUTCOMES = {
    "test_clean": "PASSED",
    "test_sizes[1]": "PASSED",
    "test_sizes[64]": "FAILED",
    "test_beyond": "FAILED",
    "test_wrong_too": "FAILED",
    "test_first_use": "ERROR",
    "test_second_use": "PASSED",
    "test_negative_index": "PASSED",
    "test_expected_exception": "PASSED",
    "test_expected_failure": "XFAIL",
    "test_skipped_after_a_race": "FAILED",
    "test_child_process": "PASSED",
    "test_known": "PASSED",
}


@pytest.mark.slow
def test_errors_fail_the_phase_of_the_test_that_launched_the_kernel(done):
    assert (done.code, done.outcomes()) == (1, OUTCOMES)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("title", "head", "words"),
    [
        ("test_sizes[64]", f"global-race at test_main.py:{SHIFT} in shift_kernel", "What to do:"),
        ("test_beyond", f"out-of-bounds at test_main.py:{BEYOND} in beyond_kernel", "a[5]"),
        ("ERROR at setup of test_first_use", f"global-race at test_main.py:{SHIFT}", "thread 31"),
    ],
)
def test_failure_shows_the_line_of_the_kernel_and_the_words_of_the_checker(
    title, head, words, done
):
    text = done.section(title)
    assert text.startswith(f"error: {head}")
    assert words in text


@pytest.mark.slow
def test_findings_of_a_test_that_fails_itself_are_shown_below_its_own_error(done):
    assert done.section("Captured gpukit call").startswith("error: out-of-bounds")


@pytest.mark.slow
def test_summary_counts_what_was_checked_and_shows_warnings(done):
    text = done.section("gpukit check")
    assert "warning: negative-index at test_main.py" in text
    assert "kernels: " in text


@pytest.mark.slow
def test_summary_counts_known_findings_and_lists_stale_entries(done):
    text = done.section("gpukit check")
    assert "Known and not failing, in known.json: 1 finding." in text
    assert "In known.json, but not found in this run: 1 finding." in text
    assert "  global-race in gone_kernel, gone.py: `x[0] = 1`" in text


@pytest.mark.slow
def test_junit_has_a_case_per_kernel_and_kind_in_which_known_findings_are_skipped(main):
    cases = [case for case in main[1] if case.find("failure") is not None]
    failed = {(case.get("classname"), case.get("name")) for case in cases}
    assert failed == {
        ("gpukit.racecheck.shift_kernel", "global-race"),
        ("gpukit.memcheck.beyond_kernel", "out-of-bounds"),
    }
    skipped = [case.get("classname") for case in main[1] if case.find("skipped") is not None]
    assert skipped == ["gpukit.racecheck.same_kernel"]


@pytest.fixture(scope="module")
def unit(tmp_path_factory):
    """The run of a suite of unittest in which every test has a race."""
    return run(tmp_path_factory.mktemp("unit"), "--gpukit-check", test_unit=UNIT)


@pytest.mark.slow
def test_race_in_a_test_of_unittest_fails_it_also_if_it_skips(unit):
    assert unit.outcomes() == {
        "test_expected_failure": "XFAIL",
        "test_fails": "FAILED",
        "test_passes": "FAILED",
        "test_raises_skip": "FAILED",
        "test_skips": "FAILED",
        "test_skips_and_is_torn_down": "FAILED",
    }


@pytest.mark.slow
@pytest.mark.parametrize("title", ["TestUnit.test_passes", "TestUnit.test_skips"])
def test_failure_of_a_test_of_unittest_that_has_no_other_is_the_race(title, unit):
    assert unit.section(title).startswith(f"error: global-race at test_unit.py:{SHIFT}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("title", "own"),
    [
        ("TestUnit.test_fails", "AssertionError: 1 != 2"),
        ("TestTearDown.test_skips_and_is_torn_down", "ValueError: torn"),
    ],
)
def test_race_in_a_test_of_unittest_that_fails_itself_is_shown_below_its_own_error(
    title, own, unit
):
    _, _, below = unit.text.partition(f"_ {title} _")
    before, _, after = below.partition("Captured gpukit call")
    assert own in before
    assert after.lstrip(" -\n").startswith("error: global-race")


@pytest.mark.slow
def test_option_in_the_configuration_of_a_clean_suite_checks_it(tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --gpukit-check\n")
    done = run(tmp_path, test_clean=CLEAN)
    assert done.code == 0
    assert "No findings: 1 block of 32 threads in double_kernel[1, 32] checked" in done.text


OUTSIDE = "\nshift_kernel[2, 32](np.zeros(64))\n\ndef test_nothing():\n    pass\n" + KNOWN


@pytest.mark.slow
def test_launches_outside_of_tests_fail_the_run_and_workers_of_xdist_send_their_findings(tmp_path):
    chosen = ["--deselect", "test_outside.py::test_known"]
    done = run(tmp_path, "--gpukit-check", "-n", "1", *chosen, test_outside=OUTSIDE)
    assert (done.code, done.text.count("1 passed in ")) == (1, 1)  # and no warning
    outside = done.section("gpukit check").partition("Outside of any test:\n")[2]
    assert outside.startswith(f"error: global-race at test_outside.py:{SHIFT} in shift_kernel")


ENDS = """
import os


def test_before():
    assert os.environ.get("MODE") != "stop"


def test_crash():
    if os.environ.get("MODE") == "crash":
        os._exit(1)
"""


@pytest.fixture(scope="module")
def rewritten(tmp_path_factory):
    """Return a function that writes a baseline of one race and a stale entry, and writes it again.

    It returns the second run, and the entries before and after it.
    """

    def rewritten(*options, mode=""):
        folder = tmp_path_factory.mktemp("again")
        baseline = folder / "known.json"
        writing = ["--gpukit-check", "--gpukit-baseline", baseline.name, "--gpukit-baseline-write"]
        entry = {**STALE, "reason": "benign"}
        made = {"schema": "gpukit-baseline", "version": 1, "findings": [entry]}
        baseline.write_text(json.dumps(made))
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("MODE", mode)
            done = run(folder, *writing, *options, test_a=ENDS, test_b=KNOWN)
        return done, [
            (each["kernel"], each["reason"])
            for each in json.loads(baseline.read_text())["findings"]
        ]

    return rewritten


STALE_ENTRY, NEW_ENTRY = ("gone_kernel", "benign"), ("same_kernel", "")


@pytest.mark.slow
def test_baseline_of_a_whole_run_has_its_findings_only(rewritten):
    done, entries = rewritten()
    assert (done.code, entries) == (0, [NEW_ENTRY])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "mode"), [(["-x"], "stop"), (["-n", "1"], "crash")], ids=["stopped", "crashed"]
)
def test_baseline_of_a_run_that_did_not_complete_is_not_written(options, mode, rewritten):
    done, entries = rewritten(*options, mode=mode)
    assert (done.code, entries) == (1, [STALE_ENTRY])
    assert "known.json was not written: the run did not complete." in done.text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "mode", "code"),
    [(["-k", "known"], "", 0), (["test_b.py"], "", 0), ([], "stop", 1)],
    ids=["-k", "file", "failed"],
)
def test_baseline_of_selected_or_failed_tests_keeps_what_they_did_not_find(
    options, mode, code, rewritten
):
    done, entries = rewritten(*options, mode=mode)
    assert (done.code, entries) == (code, [STALE_ENTRY, NEW_ENTRY])
    assert "Kept 1 older finding not found in this run" in done.text


LOST = """
import os


def pytest_sessionfinish(session):
    if "PYTEST_XDIST_WORKER" in os.environ:
        os._exit(1)  # when its tests have passed
"""


@pytest.mark.slow
def test_run_fails_if_a_worker_of_xdist_ends_without_its_findings(tmp_path):
    (tmp_path / "conftest.py").write_text(LOST)
    options = ["-n", "1", "--max-worker-restart", "0"]
    done = run(tmp_path, "--gpukit-check", *options, test_clean=CLEAN)
    assert "1 passed" in done.text
    assert done.code == pytest.ExitCode.TESTS_FAILED
    assert "The findings of gw0 are missing" in done.section("gpukit check")


BLIND = """
from gpukit.checked import check
from gpukit.checked.report import Report

check.run = lambda *launch: Report([])
"""


@pytest.mark.slow
def test_run_ends_with_one_sentence_if_the_planted_race_is_not_found(tmp_path):
    (tmp_path / "conftest.py").write_text(BLIND)
    done = run(tmp_path, "--gpukit-check", test_known=KNOWN)
    assert done.code == pytest.ExitCode.INTERNAL_ERROR
    assert "a race was planted to test the checker, and the checker did not find it" in done.text
    assert "test_known" not in done.text


UNUSED = """
def test_modules():
    import sys
    loaded = {name.partition(".")[0] for name in sys.modules}
    assert not loaded & {"numba", "numpy", "llvmlite"}
    assert {n for n in sys.modules if n.startswith("gpukit")} <= {"gpukit", "gpukit.testing"}
"""


def test_without_the_option_nothing_is_imported(tmp_path):
    (tmp_path / "test_modules.py").write_text(UNUSED)
    done = run(tmp_path)
    assert "1 passed" in done.text
    assert "gpukit check" not in done.text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--gpukit-junit", "x.xml"], "--gpukit-junit: expected --gpukit-check as well"),
        (["--gpukit-baseline-write"], "--gpukit-baseline-write: expected --gpukit-check as well"),
    ],
)
def test_option_that_needs_a_checked_run_is_refused_without_one(options, words, tmp_path):
    done = run(tmp_path, *options)
    assert done.code == pytest.ExitCode.USAGE_ERROR
    assert words in done.text


def test_the_entry_point_has_the_name_of_the_module():
    """So that `-p gpukit.testing` and the entry point are one plugin."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"gpukit.testing": "gpukit.testing"}


def test_the_kernels_of_the_suites_are_written_as_for_a_gpu():
    assert "gpukit" not in KERNELS
