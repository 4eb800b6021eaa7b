"""Checking all launches of a process: GPUKIT_TARGET=checked, `checking()`, progress bar."""

import io
import sys
import textwrap
import threading
from contextlib import nullcontext

import numpy as np
import pytest

from gpukit import errors, status
from gpukit.checked import process, progress
from gpukit.checked.engine import entries
from tests.checked.plain_kernels import BLOCK, collide_kernel, fill_kernel
from tests.checked.scripts import KERNELS

HEAD = "\nimport warnings\nimport numpy as np\nfrom gpukit import cuda\n" + KERNELS
RACE_LINE = 1 + HEAD.split("\n").index("    out[0] = cuda.threadIdx.x")
FLOAT64_LINE = 1 + HEAD.split("\n").index("        out[i] = 0.1 * x[i]")


@pytest.fixture
def script(fresh_python, tmp_path):
    """Return a function that runs a script with every launch checked."""

    def run(text, target="checked", *options):
        path = tmp_path / "script.py"
        path.write_text(HEAD + textwrap.dedent(text), encoding="utf-8")
        return fresh_python(*options, str(path), GPUKIT_TARGET=target)

    return run


@pytest.mark.slow
def test_correct_script_runs_as_on_the_cpu(script):
    text = "fill_kernel[3, 32](out)\nprint(out.sum(), cuda.is_available())"
    checked, plain = script(text), script(text, "cpu")
    assert (checked.returncode, checked.stderr) == (0, "")
    assert checked.stdout == plain.stdout
    assert checked.stdout.startswith("2415.0")


@pytest.mark.slow
def test_an_error_is_raised_at_the_line_of_the_kernel(script):
    done = script("collide_kernel[1, 32](one)\nprint('not reached')")
    assert done.returncode == 1
    assert done.stdout == ""
    assert f'script.py", line {RACE_LINE}, in collide_kernel' in done.stderr
    assert "    out[0] = cuda.threadIdx.x" in done.stderr
    assert "gpukit.errors.CheckFailed" in done.stderr
    assert "global-race: " in done.stderr
    assert "What to do: " in done.stderr
    files = [line for line in done.stderr.splitlines() if line.lstrip().startswith("File ")]
    assert "script.py" in files[-1]
    assert f"line {RACE_LINE}" in files[-1]


@pytest.mark.slow
def test_the_same_script_on_the_cpu_raises_nothing(script):
    assert script("collide_kernel[1, 32](one)", "cpu").returncode == 0


@pytest.mark.slow
def test_error_can_be_caught_and_has_its_location(script):
    done = script("""
        from gpukit import errors
        try:
            collide_kernel[1, 32](one)
        except errors.CheckFailed as error:
            print(error.kernel, error.line, error.array, error.index, error.source)
        fill_kernel[3, 32](out)
        print(out[69])
    """)
    first, second = done.stdout.splitlines()
    assert first == f"collide_kernel {RACE_LINE} out (0,) out[0] = cuda.threadIdx.x"
    assert second == "69.0"


@pytest.mark.slow
def test_a_warning_is_a_check_warning_with_the_line(script):
    done = script("""
        from gpukit import errors
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            half_kernel[3, 32](x, out)
        (one,) = caught
        print(one.category.__name__, one.lineno, one.filename.endswith("script.py"))
        print(one.message)
        print(round(float(out.sum()), 4))
    """)
    place, message, total = done.stdout.splitlines()
    at = HEAD.count("\n") + 5
    assert place == f"CheckWarning {at} True"
    assert f"script.py:{FLOAT64_LINE}: float64: " in message
    assert "What to do: " in message
    assert total == "7.0"


@pytest.mark.parametrize("launch", ["half_kernel.forall(70)(x, out)", "half(x)"])
@pytest.mark.slow
def test_warning_of_a_launch_by_gpukit_is_at_the_line_of_the_script(script, launch):
    done = script(f"""
        @cuda.vectorize(["float32(float32)"])
        def half(a):
            return 0.1 * a

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            {launch}
        print({{(w.category.__name__, w.lineno, w.filename[-9:]) for w in caught}})
    """)
    at = HEAD.count("\n") + 8
    assert done.stdout == f"{{('CheckWarning', {at}, 'script.py')}}\n"


@pytest.mark.slow
def test_warnings_that_are_errors_stop_the_script(script):
    done = script("half_kernel[3, 32](x, out)\nprint('not reached')")
    assert done.returncode == 1
    assert "CheckWarning" in done.stderr
    assert done.stdout == ""


@pytest.mark.slow
def test_an_error_comes_before_warnings_that_are_errors(script):
    done = script("collide_kernel[1, 32](out)")  # a race, and a partly written output
    assert "CheckFailed" in done.stderr


def test_error_of_a_plain_launch_is_unchanged(script):
    done = script("fill_kernel[3, 32](out, out)")
    assert "gpukit.errors.ArgumentError: fill_kernel takes 1 arguments" in done.stderr


@pytest.mark.slow
def test_a_launch_in_another_thread_is_checked(script):
    done = script("""
        import threading
        seen = []
        threading.excepthook = lambda args: seen.append(args.exc_type.__name__)
        worker = threading.Thread(target=lambda: collide_kernel[1, 32](one))
        worker.start()
        worker.join()
        print(seen)
    """)
    assert done.stdout == "['CheckFailed']\n"


def test_functions_of_the_checker_are_compiled_once_when_two_threads_launch():
    compiled, begun, go_on = [], threading.Event(), threading.Event()

    def compile_slowly():
        compiled.append(1)
        begun.set()
        return go_on.wait(30)

    functions = entries.once(compile_slowly)
    threads = [threading.Thread(target=functions) for _ in range(2)]
    threads[0].start()
    begun.wait(30)
    threads[1].start()
    threads[1].join(0.2)  # long enough to start compiling
    go_on.set()
    for thread in threads:
        thread.join(30)
    assert compiled == [1]


@pytest.mark.slow
def test_forall_launch_is_checked(script):
    assert "CheckFailed" in script("collide_kernel.forall(70)(one)").stderr


# --- with checking() -------------------------------------------------------------------------


def test_every_launch_inside_a_with_block_has_its_report():
    out = np.zeros(70, np.float32)
    with process.checking() as reports:
        collide_kernel[1, BLOCK](out)
        fill_kernel[3, BLOCK](out)
    assert [r.kernel for r in reports] == ["collide_kernel", "fill_kernel"]
    assert [r.ok for r in reports] == [False, True]
    np.testing.assert_array_equal(out, np.arange(70))


def test_launches_after_the_with_block_are_plain():
    with process.checking() as reports:
        pass
    collide_kernel[1, BLOCK](np.zeros(3))
    assert reports == []


def test_an_error_inside_a_with_block_ends_the_checking_too():
    with pytest.raises(errors.ArgumentError), process.checking() as reports:
        fill_kernel[3, BLOCK]()
    collide_kernel[1, BLOCK](np.zeros(3))
    assert reports == []


def test_with_blocks_may_be_nested():
    with process.checking() as outer:
        with process.profiling() as inner:
            fill_kernel[3, BLOCK](np.zeros(70))
        fill_kernel[3, BLOCK](np.zeros(70))
    assert (len(outer), len(inner)) == (1, 1)


# --- Progress bar ----------------------------------------------------------------------------


class Screen(io.StringIO):
    """Standard error that is a terminal, or not."""

    def __init__(self, looked_at=True):
        super().__init__()
        self.looked_at = looked_at

    def isatty(self):
        return self.looked_at


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test sets."""
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])

    def set_seconds(seconds):
        now[0] = 100.0 + seconds

    return set_seconds


def bar_of(monkeypatch, clock, seconds, screen):
    monkeypatch.setattr(sys, "stderr", screen)
    clock(0)
    with progress.Bar("check long_kernel") as bar:
        clock(seconds)
        bar(6_000, 24_000)
        text = screen.getvalue()
    return text, screen.getvalue()


def test_a_short_launch_shows_no_bar(monkeypatch, clock):
    assert bar_of(monkeypatch, clock, 0.99, Screen()) == ("", "")


def test_long_launch_shows_progress_and_time(monkeypatch, clock):
    text, _ = bar_of(monkeypatch, clock, 5, Screen())
    bar = "######.................."
    assert text == f"\rcheck long_kernel [{bar}] 6,000 of 24,000 blocks, 15 s left"


def test_progress_bar_is_erased_at_the_end(monkeypatch, clock):
    text, after = bar_of(monkeypatch, clock, 5, Screen())
    assert after == text + "\r" + " " * (len(text) - 1) + "\r"


def test_progress_bar_is_hidden_without_a_terminal(monkeypatch, clock):
    assert bar_of(monkeypatch, clock, 5, Screen(looked_at=False)) == ("", "")


def test_missing_stderr_is_tolerated(monkeypatch, clock):
    monkeypatch.setattr(sys, "stderr", None)
    with progress.Bar("check") as bar:
        clock(5)
        bar(1, 2)


def test_progress_bar_of_zero_blocks_does_not_divide_by_zero(monkeypatch, clock):
    monkeypatch.setattr(sys, "stderr", Screen())
    with progress.Bar("check") as bar:
        clock(5)
        bar(0, 0)
    assert "0 of 0 blocks" in sys.stderr.getvalue()


def prepared(monkeypatch, functions):
    """Return the progress message while the bar prepares these functions."""
    requests = []
    monkeypatch.setattr(status, "doing", lambda what: requests.append(what) or nullcontext())
    with progress.Bar("check") as bar:
        assert bar.prepare(functions) == (1, 2)
    return requests[0]()


def test_progress_says_that_the_checker_is_being_compiled(monkeypatch):
    message = prepared(monkeypatch, lambda: entries.compiled.append("access") or (1, 2))
    assert message == "check: compiling the checker, once for this version of gpukit"


def test_progress_says_that_a_cached_checker_is_being_loaded(monkeypatch):
    entries.compiled.append("by an earlier wait")
    assert prepared(monkeypatch, lambda: (1, 2)) == "check: loading the checker"


@pytest.mark.parametrize(
    ("cached", "compiled"), [(False, ["first", "second"]), (True, [])], ids=["empty", "full"]
)
def test_functions_missing_from_the_cache_are_listed_as_compiled(
    cached, compiled, tmp_path, monkeypatch
):
    monkeypatch.setattr(entries, "_folder", lambda: str(tmp_path))

    def make():
        def first(checker):
            return 1

        def second(checker):
            return 2

        for function in (first, second):
            entries._entry("tick")(function)

    if cached:
        make()
    entries.compiled.clear()
    make()
    assert entries.compiled == compiled


def test_a_checked_launch_reports_its_blocks_to_the_bar(monkeypatch):
    instrumentation = []
    monkeypatch.setattr(progress.Bar, "__call__", lambda _, *args: instrumentation.append(args))
    with process.checking():
        fill_kernel[3, BLOCK](np.zeros(70))
    assert instrumentation[-1] == (3, 3)
    assert [done for done, _ in instrumentation] == sorted({done for done, _ in instrumentation})
