"""Whole scripts for `numba.cuda`, unchanged, through `gpukit run` and `gpukit check`."""

import pytest

pytestmark = pytest.mark.programs

HEAT = """
import sys
import numpy as np
from numba import cuda

N = int(sys.argv[1]) if len(sys.argv) > 1 else 16

@cuda.jit
def step(u, out, k):
    i, j = cuda.grid(2)
    if i == 0 or j == 0 or i >= u.shape[0] - 1 or j >= u.shape[1] - 1:
        if i < u.shape[0] and j < u.shape[1]:
            out[i, j] = u[i, j]
        return
    out[i, j] = u[i, j] + k * (u[i-1, j] + u[i+1, j] + u[i, j-1] + u[i, j+1] - 4*u[i, j])

def main():
    u = np.zeros((N, N + 3)); u[N // 2] = 1.0
    d_u, d_out = cuda.to_device(u), cuda.device_array_like(u)
    grid = ((N + 7) // 8, (N + 10) // 8)
    for _ in range(3):
        step[grid, (8, 8)](d_u, d_out, 0.1)
        d_u, d_out = d_out, d_u
    cuda.synchronize()
    w = u.copy()
    for _ in range(3):
        near = sum(np.roll(w, s, a) for s in (1, -1) for a in (0, 1))
        w[1:-1, 1:-1] = (w + 0.1 * (near - 4 * w))[1:-1, 1:-1]
    print("max error %.0e" % abs(d_u.copy_to_host() - w).max(), np.isclose(w, d_u).all())

if __name__ == "__main__":
    main()
"""

PI = """
from numba import cuda
import numba.cuda.random as nr
import numpy

class Estimator:
    def __init__(self, threads=64, blocks=4):
        self.config = blocks, threads
        self.states = nr.create_xoroshiro128p_states(threads * blocks, seed=11)

    @staticmethod
    @cuda.jit
    def _throw(rng_states, iterations, out):
        thread_id = cuda.grid(1)
        inside = 0
        for i in range(iterations):
            x = nr.xoroshiro128p_uniform_float32(rng_states, thread_id)
            y = nr.xoroshiro128p_uniform_float32(rng_states, thread_id)
            inside += 1 if x**2 + y**2 <= 1 else 0
        out[thread_id] = 4 * inside / iterations

    def run(self):
        out = numpy.zeros(self.config[0] * self.config[1], dtype=numpy.float32)
        self._throw[self.config](self.states, 50, out)
        return out.mean()

if __name__ == "__main__":
    print("close" if abs(Estimator().run() - 3.14159) < 0.1 else "far")
"""

HISTOGRAM = """
import numba
import numpy as np
import numba.cuda as nc

BINS = 16

@nc.jit("void(uint8[:], int32[:])")
def histogram(data, bins):
    local = nc.shared.array(BINS, numba.int32)
    if nc.threadIdx.x < BINS:
        local[nc.threadIdx.x] = 0
    nc.syncthreads()
    i = nc.grid(1)
    while i < len(data):
        nc.atomic.add(local, data[i] * BINS // 256, 1)
        i += nc.gridsize(1)
    nc.syncthreads()
    if nc.threadIdx.x < BINS:
        nc.atomic.add(bins, nc.threadIdx.x, local[nc.threadIdx.x])

data = np.random.default_rng(0).integers(0, 256, 1001, dtype=np.uint8)
bins = np.zeros(BINS, np.int32)
histogram[3, 64](data, bins)
assert (bins == np.histogram(data, BINS, (0, 256))[0]).all()
print("same", bins.sum())
"""

SCRIPTS = {
    "check heat": (HEAT, "max error"),
    "run pi": (PI, "close"),
    "run histogram": (HISTOGRAM, "same 1001"),
    "check histogram": (HISTOGRAM, "same 1001"),
}


@pytest.mark.parametrize("command", SCRIPTS)
def test_a_script_prints_what_it_prints_on_a_gpu(command, tmp_path, fresh_python):
    text, expected = SCRIPTS[command]
    command, name = command.split()
    path = tmp_path / f"{name}.py"
    path.write_text(text)
    done = fresh_python("-m", "gpukit.cli", command, str(path), GPUKIT_TARGET="cpu")
    assert done.returncode == 0, done.stdout + done.stderr
    assert expected in done.stdout
    assert "False" not in done.stdout
