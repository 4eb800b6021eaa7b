"""Classic mistakes and the explanations that learners must get."""

import pytest

from gpukit import target
from gpukit.course import as_text, catalogue, grade
from tests.course.changes import body, edit
from tests.course.maps import GOOD_MAP, MAP, RIGHT

GUARD = "i < celsius.shape[0]"
STORE = "fahrenheit[i] = celsius[i] * np.float32(1.8) + np.float32(32)"
ZIP_STORE = "out[i] = a[i] + b[i]"
ZIP_GUARD = f"if i < out.size:\n        {ZIP_STORE}"

on_a_cpu = pytest.mark.skipif(target.active().name == "cuda", reason="a GPU does not check bounds")


def why(report, name):
    """Return the explanation of the case called `name`."""
    return {row.name: row.why for row in report.rows}[name]


@pytest.mark.slow
def test_the_right_answer_passes_every_case(attempt):
    report = attempt("guarded_map", RIGHT)
    assert report.passed
    assert {row.status for row in report.rows} == {"right"}


@pytest.mark.slow
def test_float64_arithmetic_is_right_but_breaks_the_contract(attempt):
    report = attempt("guarded_map", edit((STORE, "fahrenheit[i] = celsius[i] * 1.8 + 32")))
    assert report.status == "but"
    assert "float64 operations; required: at most 0" in report.why
    assert "np.float32(1.8)" in report.why


def test_a_float64_comparison_breaks_the_contract(attempt):
    least = f"least = max(-1e30, {STORE.partition(' = ')[2]})\n        fahrenheit[i] = least"
    report = attempt("guarded_map", edit((STORE, least)))
    assert report.status == "but"
    assert "1 float64 operation; required: at most 0" in report.why
    assert "np.float32(-1e30)" in report.why


@on_a_cpu
def test_a_missing_guard_is_out_of_bounds_at_the_line_of_the_store(attempt):
    report = attempt("guarded_map", edit((f"if {GUARD}:\n        {STORE}", STORE)))
    assert report.status == "error"
    assert report.failed.args["celsius"].shape == (1,)
    assert ">  13 | fahrenheit[i] = celsius[i]" in report.why
    assert "if i < celsius.shape[0]:" in report.why


def test_an_off_by_one_guard_leaves_the_last_element_unwritten(attempt):
    report = attempt("guarded_map", edit((GUARD, f"{GUARD} - 1")))
    assert report.status == "wrong"
    words = why(report, "exactly one block")
    assert "1 of 128 elements of fahrenheit is wrong: the last element only" in words
    assert "fahrenheit[127]" in words
    assert "never written" in words


def test_thread_index_used_as_grid_index_is_recognised(attempt):
    report = attempt("guarded_map", edit(("cuda.grid(1)", "cuda.threadIdx.x")))
    words = why(report, "eight whole blocks")
    assert "every element from 128 on: all but the first block" in words
    assert "the index is missing `cuda.blockIdx.x * cuda.blockDim.x`" in report.why
    assert report.failed.args["celsius"].shape == (129,)
    assert [row.status for row in report.rows].count("right") == 4  # the smallest sizes


def test_a_wrong_formula_is_wrong_everywhere(attempt):
    report = attempt("guarded_map", edit(("np.float32(32)", "np.float32(30)")))
    assert "The only element of fahrenheit is wrong" in report.why


@on_a_cpu
def test_each_way_to_fail_is_explained(attempt):
    unguarded = edit((ZIP_GUARD, ZIP_STORE.replace("+", "-")))
    report = attempt("zip_add", unguarded)
    assert [row.status for row in report.rows[:2]] == ["wrong", "error"]
    shown = "\n".join(as_text.explanation(report))
    assert shown.startswith("Smallest case marked WRONG: a (64,)")
    assert "These are the differences a - b" in shown
    assert "\none element, marked ERROR: a (1,)" in shown
    assert "if i < a.shape[0]:" in shown


@on_a_cpu
def test_a_way_to_fail_that_is_explained_already_is_not_explained_again(attempt):
    wrong = STORE.replace("float32(32)", "float32(30)")
    report = attempt("guarded_map", edit((f"if {GUARD}:\n        {STORE}", wrong)))
    shown = "\n".join(as_text.explanation(report))
    assert shown.startswith("Smallest case marked WRONG: celsius (128,)")
    assert shown.count("if i < celsius.shape[0]:") == 1


@pytest.mark.slow
def test_a_case_that_ends_the_grading_does_not_hide_how_an_earlier_one_failed(attempt):
    steps = "while celsius.shape[0] == 1:\n            pass\n        "
    wrong = STORE.replace("float32(32)", "float32(30)")
    report = attempt("guarded_map", edit((STORE, steps + wrong)), seconds=3)
    assert [row.status for row in report.rows] == ["wrong", "timeout"]
    shown = "\n".join(as_text.explanation(report))
    assert shown.startswith("Stopped after 3 seconds")
    assert "\nexactly one block, marked WRONG: celsius (128,)" in shown


def test_a_write_to_an_input_is_reported(attempt):
    report = attempt("guarded_map", edit((STORE, f"{STORE}\n        celsius[i] = fahrenheit[i]")))
    assert "The kernel wrote to celsius, which is an input" in report.why


@pytest.mark.slow
def test_an_endless_loop_is_stopped(attempt):
    steps = "steps = 0\n    while steps <= celsius.shape[0]:\n        steps += 0\n    fahrenheit[i]"
    report = attempt(
        "guarded_map", edit((f"if {GUARD}:\n        {STORE}", f"{steps} = steps")), seconds=3
    )
    assert report.status == "timeout"
    assert "Stopped after 3 seconds" in report.why


def test_a_name_that_is_not_defined_is_shown_at_its_line(attempt):
    report = attempt("guarded_map", edit(("= celsius[i]", "= celcius[i]")))
    assert report.status == "error"
    assert "celcius" in report.why
    assert ">  14 |" in report.why


@pytest.mark.skipif(target.active().name == "cuda", reason="a GPU hangs or continues")
@pytest.mark.slow
def test_a_barrier_that_some_threads_miss_is_an_error(attempt):
    add, barrier = "tile[tid] += tile[tid + half]", "cuda.syncthreads()"
    late = f"        {barrier}  # the sums of this level are written before the next level reads\n"
    inside = (add, f"{barrier}\n            {add}")
    report = attempt("block_sum", edit((late, ""), inside))
    assert "barrier" in report.why


def test_right_results_with_a_race_are_wrong(attempt):
    first = "    cuda.syncthreads()  # the tile is full before any thread reads another's element\n"
    report = attempt("block_sum", edit((first, "")))
    assert report.status == "wrong"
    assert "put `cuda.syncthreads()` between line 17 and line 21" in report.why
    assert "by luck" in report.why


def test_a_race_that_only_random_sizes_show_is_wrong(attempt):
    first = "    cuda.syncthreads()  # the tile is full before any thread reads another's element\n"
    largest = max(n for (n,) in catalogue.find("block_sum").shapes.values())
    rarely = f"    if x.shape[0] <= {largest}:\n        cuda.syncthreads()\n"
    report = attempt("block_sum", edit((first, rarely)))
    assert report.status == "wrong"
    assert [row.name for row in report.rows if row.status == "wrong"] == ["checked: random sizes"]


def test_a_single_working_thread_breaks_the_contract(attempt):
    lines = """
        if cuda.threadIdx.x == 0:
            acc = np.float32(0)
            first = cuda.blockIdx.x * BLOCK
            for i in range(first, min(first + BLOCK, x.shape[0])):
                acc += x[i]
            partials[cuda.blockIdx.x] = acc
    """
    report = attempt("block_sum", body(lines))
    assert report.status == "but"
    assert "32 load requests to x per warp; required: at most 1" in report.why
    assert "one thread of a warp does the work" in report.why


def test_random_sizes_exceed_those_of_all_cases(attempt):
    report = attempt("guarded_map", edit((GUARD, "i < min(celsius.shape[0], 1024)")))
    assert report.status == "wrong"
    assert [row.name for row in report.rows if row.status == "wrong"] == ["random sizes"]


def test_idle_blocks_are_counted(attempt):
    lines = """
        if cuda.blockIdx.x == 0:
            for i in range(cuda.threadIdx.x, celsius.shape[0], cuda.blockDim.x):
                fahrenheit[i] = celsius[i] * np.float32(1.8) + np.float32(32)
    """
    report = attempt("guarded_map", body(lines))
    assert report.status == "but"
    assert "28 idle warps (no memory access); required: at most 0" in report.why


def test_a_kernel_that_behaves_differently_under_the_checker_is_wrong(attempt):
    text = f"""{MAP}
    i = cuda.grid(1)
    if i < 0:
        fahrenheit[i] = celsius[i]


def on_the_host(kernel, shape):
    def launch(celsius, fahrenheit):
        fahrenheit[:] = celsius * np.float32(1.8) + np.float32(32)

    return launch


type(fahrenheit_kernel).__getitem__ = on_the_host
"""
    report = attempt("guarded_map", text)
    assert report.status == "wrong"
    on_gpu = target.active().name == "cuda"  # where launches are not checked
    words = "Under gpukit.check the results are wrong." if on_gpu else "it was never written"
    assert words in report.why


@pytest.mark.skipif(target.active().name == "cuda", reason="a GPU launches plainly first")
@pytest.mark.usefixtures("warm")
def test_a_kernel_is_compiled_once_for_values_and_findings_and_once_for_counters(tmp_path):
    file, noticed = tmp_path / "answer.py", []
    for text, forms in ((GOOD_MAP, 2), (GOOD_MAP.replace("32)", "23)"), 1)):
        file.write_text(MAP + text)
        noticed.clear()
        grade.run(catalogue.find("guarded_map"), file, notice=noticed.append)
        assert noticed.count("compiling fahrenheit_kernel") == forms


def test_a_kernel_that_does_not_compile_is_launched_once(attempt):
    report = attempt("guarded_map", edit((STORE, "fahrenheit[i] = celsius.cumsum()[i]")))
    assert report.status == "error"
    assert len(report.rows) == 1
    assert "gpukit has no celsius.cumsum for kernels" in report.why
