"""gpukit.check on tiles that every row of a block reads.

Reads in a loop are recorded in bulk, and skipped once enough readers are known, until the next
write (`checked/engine/shadow_areas.py`). No race may be missed because of this.
"""

import inspect

import numpy as np
import pytest

import gpukit
from gpukit import cuda

SIDE = 16
BARRIER = "        cuda.syncthreads()\n"
TEXT = '''
@cuda.jit
def kernel(out):
    """Every thread reads a whole column of the tile; all rows read the same columns."""
    tile = cuda.shared.array((16, 16), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    {fill}
    cuda.syncthreads()
    total = np.float32(0)
    for k in range(16):
        total += tile[k, tx]
    {between}
    for k in range(16):
        total += tile[k, tx]  # again
    {after}
    out[ty, tx] = total
'''
FULL = "tile[ty, tx] = ty"
FIRST, AGAIN = "total += tile[k, tx]", "total += tile[k, tx]  # again"


def check_text(tmp_path, fill=FULL, between="pass", after="pass"):
    """Return the errors of a kernel with these statements, as (kind, text of the two lines)."""
    path = tmp_path / "tiles.py"
    head = "import numpy as np\nfrom gpukit import cuda\n"
    path.write_text(head + TEXT.format(fill=fill, between=between, after=after), encoding="utf-8")
    scope = {"__name__": "tiles"}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), scope)
    report = gpukit.check(scope["kernel"])[1, (SIDE, SIDE)](np.zeros((SIDE, SIDE), np.float32))
    lines = ["", *path.read_text(encoding="utf-8").splitlines()]
    return [(f.kind, {lines[f.line].strip(), lines[f.other_line].strip()}) for f in report.errors]


def test_tile_that_is_only_read_has_no_findings(tmp_path):
    assert check_text(tmp_path) == []


def test_write_between_barriers_has_no_findings(tmp_path):
    between = "cuda.syncthreads()\n    tile[ty, tx] = 1\n    cuda.syncthreads()"
    assert check_text(tmp_path, between=between) == []


@pytest.mark.parametrize("write", ["tile[ty, tx] = 1", "tile[15 - ty, tx] = 1", "tile[tx, ty] = 1"])
@pytest.mark.costly
def test_write_after_the_reads_of_all_rows_is_a_race(tmp_path, write):
    races = [("shared-race", {write, line}) for line in (AGAIN, FIRST)]
    assert check_text(tmp_path, after=write) == races  # rows run one after the other


def test_first_of_two_missing_barriers_is_reported_first():
    a = np.ones((32, 32), np.float32)
    found = gpukit.check(no_barrier_kernel)[(2, 2), (16, 16)](a, a, np.zeros_like(a)).errors[0]
    _, first = inspect.getsourcelines(no_barrier_kernel.py_func)
    assert found.fix.startswith(
        f"put `cuda.syncthreads()` between line {first + 10} and line {first + 12}"
    )


@cuda.jit
def no_barrier_kernel(a, b, out):
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    a_tile = cuda.shared.array((16, 16), np.float32)
    b_tile = cuda.shared.array((16, 16), np.float32)
    total = np.float32(0)
    for t in range(0, a.shape[1], 16):
        if row < a.shape[0]:
            a_tile[ty, tx] = a[row, t + tx]
            b_tile[ty, tx] = b[t + ty, col]
        for k in range(16):
            total += a_tile[ty, k] * b_tile[k, tx]
    out[row, col] = total


@pytest.mark.parametrize("place", [(0, 0), (3, 3), (15, 15)])
@pytest.mark.costly
def test_write_of_one_thread_between_two_loops_is_a_race_with_the_second(tmp_path, place):
    write = f"tile[{place[0]}, {place[1]}] = 1"
    between = f"cuda.syncthreads()\n    if tx == 5 and ty == 5:\n        {write}"
    assert check_text(tmp_path, between=between) == [("shared-race", {write, AGAIN})]


def test_uninitialised_element_is_one_finding_for_all_lines_that_read_it(tmp_path):
    found = check_text(tmp_path, fill="if ty < 15:\n        tile[ty, tx] = ty")
    assert found == [("uninitialised-shared", {FIRST, ""})]


@cuda.jit
def shifted_kernel(x, out):
    tile = cuda.shared.array(256, np.float32)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    cuda.syncthreads()
    out[i] = tile[(i + 64) % 256]
    tile[i] = 0  # read by another warp in this interval


def test_stores_of_a_row_race_with_earlier_readers_of_its_elements():
    x, out = np.ones(256, np.float32), np.zeros(256, np.float32)
    (found,) = gpukit.check(shifted_kernel)[1, 256](x, out).errors
    lines, first = inspect.getsourcelines(shifted_kernel.py_func)
    place = next(first + k for k, line in enumerate(lines) if "# read by" in line)
    assert (found.kind, found.line, found.other_line) == ("shared-race", place, place - 1)
    assert found.array == "tile"
