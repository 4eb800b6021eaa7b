"""Explanations name the real cause, without advice that would hide the mistake."""

import re

import pytest

from tests.course.changes import edit


@pytest.mark.slow
def test_output_computed_from_its_old_contents_is_not_called_unwritten(attempt):
    step = "if x[i] > out[i]:\n            out[i] = max(x[i], np.float32(0))"
    report = attempt("relu", edit(("out[i] = max(x[i], np.float32(0))", step)))
    assert report.status == "wrong"
    assert "The value stored in out is computed from what out held before" in report.why
    assert "never written" not in report.why


@pytest.mark.slow
def test_elements_next_to_unwritten_ones_are_not_explained_by_old_contents(attempt):
    whole = "range(cuda.laneid, x.shape[1], 32):\n            "
    one = "range(cuda.laneid, min(x.shape[1], 32), 32):\n            "
    parts = ("high = max", "total += math", "out[row, k] =")
    report = attempt("softmax", edit(*((whole + part, one + part) for part in parts)))
    assert report.why.startswith("Only the first 32 columns count and are written")


@pytest.mark.slow
def test_output_computed_from_another_output_names_that_one(attempt):
    early = "speed = new_velocity[i] + grad[i]"
    report = attempt("momentum", edit(("speed = MU * velocity[i] + grad[i]", early)))
    assert "The value stored in new_w is computed from what new_velocity held before" in report.why


@pytest.mark.slow
def test_a_finding_in_another_case_explains_the_smallest_failing_case(attempt):
    loads = "tile[tid] = x[i] if i < x.size else np.float32(-np.inf)"
    early = "if i >= x.size:\n        return\n    tile[tid] = x[i]"
    report = attempt("detective_hanging_tree", edit((loads, early)))
    assert report.why.startswith("With x (1,) float32, partials (1,) float32; grid 1, block 128:\n")
    assert "no thread of the block has written it" in report.why


@pytest.mark.slow
def test_the_line_with_the_most_barriers_is_shown(attempt):
    barrier = "cuda.syncthreads()  # all reads are done before the next step overwrites the tiles"
    report = attempt(
        "detective_stale_tile",
        edit(
            ("* b_tile[k, tx]", "* b_tile[k, tx]\n            cuda.syncthreads()"),
            (barrier, "pass"),
        ),
    )
    assert report.status == "but"
    assert "  >  26 |             cuda.syncthreads()" in report.why


@pytest.mark.slow
def test_a_contract_broken_only_at_whole_tiles_is_measured_there(attempt):
    steps = ("(k_size + TILE - 1) // TILE", "k_size // TILE + 1")
    report = attempt("detective_stale_tile", edit(steps))
    assert report.why.startswith("Almost right: 10 barriers per block; required: at most 8")
    assert report.failed is not None
    assert report.failed.args["a"].shape == (64, 64)


@pytest.mark.slow
def test_reads_of_the_remainder_of_a_tile_are_counted(attempt):
    report = attempt(
        "detective_stale_tile",
        edit(
            ("(k_size + TILE - 1) // TILE", "k_size // TILE"), ("        out[row, col] = acc", REST)
        ),
    )
    assert report.why.startswith("Almost right: ")
    assert "reads of a per element; required: at most 4" in report.why


REST = """        for k in range(k_size // TILE * TILE, k_size):
            acc += a[row, k] * b[k, col]
        out[row, col] = acc"""


@pytest.mark.slow
def test_the_smallest_failing_size_is_named(attempt):
    once = [("for b in range(x.shape[0]):", "for b in range(0, x.shape[0], 2):")]
    report = attempt("gradcheck", edit(*once))
    assert report.why.startswith("In the cases tried, the answer is right where x.shape[0] is 1, ")


@pytest.mark.slow
def test_a_guard_is_not_advised_for_a_wrongly_computed_index(attempt):
    report = attempt("im2col", edit(("tap // k_cols % k_rows", "tap // k_cols")))
    assert "check each part of `row + m`, which is out of range (it is" in report.why
    assert "`m = tap // k_cols` in line" in report.why
    assert "another guard around the access would hide the mistake" in report.why


@pytest.mark.slow
def test_a_guard_is_not_advised_for_the_index_of_another_axis(attempt):
    report = attempt("colour_planes", edit(("= factor[plane]", "= factor[row]")))
    assert "fix the index if another variable belongs to this axis" in report.why
    assert "guard the access" not in report.why


@pytest.mark.slow
def test_infinity_as_initial_maximum_is_named_as_the_cause_of_nan(attempt):
    report = attempt("online_softmax", edit(("= LOWEST,", "= np.float32(-math.inf),")))
    assert "-infinity minus -infinity is NaN" in report.why
    assert "from finite operands" not in report.why


@pytest.mark.slow
def test_code_below_the_kernel_may_call_gpukit_kernels(attempt):
    own = "\nimport gpukit\n\nONES = np.ones(3, np.float32)\ngpukit.relu_grad(ONES, ONES)\n"
    report = attempt("relu_backward", lambda exercise: exercise.solution.read_text() + own)
    assert report.passed, report.why


@pytest.mark.slow
def test_a_kernel_that_calls_a_gpukit_kernel_function_is_rejected(attempt):
    report = attempt(
        "relu_backward",
        edit(
            ("from gpukit import cuda\n", "from gpukit import cuda\n" + OF_THE_BOOK),
            ("grad_out[i] if x[i] > 0 else np.float32(0)", "relu_grad_of(grad_out[i], x[i], x)"),
        ),
    )
    assert report.status == "missing"
    assert "gpukit.kernels, where it is already implemented" in report.why


OF_THE_BOOK = "from gpukit.kernels.activations_grad import relu_grad_of\n"


@pytest.mark.slow
def test_warps_without_remaining_work_may_return_early(attempt):
    report = attempt(
        "detective_glimpse",
        edit(
            ("range(tid, k.shape[0], BLOCK)", "range(tid, row + 1, BLOCK)"),
            ("    high = np.float32(-math.inf)\n", LEAVE),
            ("range(k.shape[0]):\n        high", "range(row + 1):\n        high"),
            ("range(k.shape[0]):\n            weight", "range(row + 1):\n            weight"),
        ),
    )
    assert report.passed, report.why


LEAVE = """    if tid >= v.shape[1]:
        return
    high = np.float32(-math.inf)
"""


@pytest.mark.slow
def test_a_race_of_a_larger_case_is_not_said_of_the_smallest(attempt):
    passed = "cuda.atomic.add(counts, values[i], counts[values[i]] + 1)"
    change = edit(("cuda.atomic.add(counts, values[i], 1)", passed))
    report = attempt("detective_vanishing_counts", change)
    assert report.why.startswith("With values (")
    assert "pass `cuda.atomic.add` only what is to be added" in report.why


@pytest.mark.slow
def test_an_output_that_is_right_and_a_factor_of_a_wrong_one_are_said(attempt):
    doubled = ("new_m[i] = mean", "new_m[i] = mean + mean * np.float32(9)")
    report = attempt("adam", edit(doubled))
    assert "Wrong: new_m. Right in all cases: new_w, new_v." in report.why
    assert "10 times what it should be" in report.why


@pytest.mark.slow
def test_a_barrier_that_a_right_answer_needs_not_is_to_be_taken_out(attempt):
    loop = "    if i < x.size:"
    report = attempt("relu", edit((loop, f"{loop}\n        cuda.syncthreads()")))
    assert report.why.count("delete the barrier: a right answer needs none") == 1
    assert "move the barrier" not in report.why


@pytest.mark.slow
def test_the_inputs_of_a_case_that_can_be_computed_by_hand_are_shown(attempt):
    report = attempt(
        "argmax", edit(("places[tid] = places[tid + half]", "places[tid] = tid + half"))
    )
    assert re.search(r"The inputs: x = \[-?\d+[-\d., ]*\]\.", report.why)


@pytest.mark.slow
def test_a_line_that_the_answer_has_already_is_no_correction(attempt):
    swapped = edit(
        ("col, row = cuda.grid(2)", "row, col = cuda.grid(2)"),
        (
            "out[row, col] = photo[row, cols - 1 - col]",
            "out[col, row] = photo[col, rows - 1 - row]",
        ),
    )
    report = attempt("detective_missing_pixels", swapped)
    assert "correct:" not in report.why
    assert "check which axis `col` runs along" in report.why


@pytest.mark.slow
def test_blocks_that_leave_gaps_are_described_and_not_their_code(attempt):
    report = attempt("broadcast", edit(("c, r = cuda.grid(2)", _ALONG_X)))
    assert report.why.startswith(
        "The blocks along y start 32 elements apart, but each has 4 threads"
    )


_ALONG_X = """c = cuda.grid(1)
    r = cuda.blockIdx.y * cuda.blockDim.x + cuda.threadIdx.y"""


@pytest.mark.slow
def test_a_change_that_gives_the_same_values_comes_before_a_hint_on_them(attempt):
    report = attempt("block_sum", edit(("= tile[0]", "= -tile[0]")))
    assert report.why.startswith("A correct answer with one change gives exactly your results:")
    assert "the opposite sign" not in report.why
