"""Processor time of the first launch of a kernel whose code is not in the disk cache.

    python -m benchmarks.compile_time [--tree OTHER] [--rounds 5] [--json out.json] [--write]

Each launch runs in a fresh process, which imports Numba and NumPy before the clock starts. With
`--tree`, a folder that holds another version of gpukit, both versions are measured in turns.
Figures are medians of processor time, which other programs disturb less than wall time.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from pathlib import Path

from benchmarks import harness

# A child imports gpukit from its argument.
CHILD = """
import sys, time
sys.path.insert(0, sys.argv[1])
import numba, numpy as np
from gpukit import cuda
rng = np.random.default_rng(1)
{prepare}
start = time.process_time()
{launch}
print(time.process_time() - start)
"""
ATTENTION = """
import gpukit
grad, query, key, value = rng.random((4, 1, 2, 64, 32), np.float32)
kept = np.empty((1, 2, 64), np.float32)
out = gpukit.scaled_dot_product_attention(query, key, value, logsumexp=kept)
"""
TRAINING = """
from gpukit import nn
model = nn.Sequential(
    nn.Conv2d(1, 6, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(24, 10)
)
parameters = nn.Parameters(model, seed=0)
images = rng.random((16, 1, 8, 8), dtype=np.float32)
batches = nn.Loader(images, np.arange(16) % 10, batch=16)
"""
PROGRAMS = {
    "matmul, tiled": (
        "import gpukit; a, b = rng.random((2, 64, 64), np.float32)",
        "gpukit.matmul(a, b, variant='tiled')",
    ),
    "matmul, register tile 2d": (
        "import gpukit; a, b = rng.random((2, 128, 128), np.float32)",
        "gpukit.matmul(a, b, variant='register_tile_2d')",
    ),
    "argmax": ("import gpukit; x = rng.random(1000, np.float32)", "gpukit.argmax(x)"),
    "attention backward, tiled, 3 kernels": (
        ATTENTION,
        "gpukit.scaled_dot_product_attention_backward(grad, query, key, value, out, kept)",
    ),
    "a training step of a convolutional network, 20 kernels": (
        TRAINING,
        "nn.fit(model, nn.AdamW(parameters, lr=0.01), batches, epochs=1)",
    ),
}


def child(tree: Path, name: str) -> float:
    """Return the seconds of processor time of one first launch."""
    prepare, launch = PROGRAMS[name]
    text = CHILD.format(prepare=prepare, launch=launch)
    done = subprocess.run(
        [sys.executable, "-c", text, str(tree)],
        env={**os.environ, "GPUKIT_CACHE": "0", "GPUKIT_TARGET": "cpu", "PYTHONPATH": ""},
        cwd=tree,
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout.splitlines()[-1])  # training prints losses first


def table(times: dict[str, dict[str, list[float]]]) -> str:
    """Return the medians as a Markdown table, with those of the other version if there is one."""
    rows = []
    for name, sides in times.items():
        now = statistics.median(sides["now"])
        was = statistics.median(sides["before"]) if "before" in sides else None
        before, ratio = ("-", "-") if was is None else (f"{was:.2f}", f"{now / was:.2f}")
        rows.append([name, before, f"{now:.2f}", ratio])
    return harness.markdown(["first launch", "before", "now", "now / before"], rows)


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and write what was asked for."""
    parser = harness.parser(__doc__)
    parser.add_argument("--tree", type=Path, help="a folder with another version of gpukit")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(arguments)
    trees = {"now": harness.ROOT} | ({"before": options.tree} if options.tree else {})
    before = harness.load()
    times: dict[str, dict[str, list[float]]] = {
        name: {side: [] for side in trees} for name in PROGRAMS
    }
    for _ in range(options.rounds):
        for name in PROGRAMS:
            for side, tree in trees.items():
                times[name][side].append(child(tree, name))
    about = (
        f"Seconds of processor time, medians of {options.rounds}, on: {harness.machine()}. "
        f"Load average {before} before, {harness.load()} after."
    )
    record = {"about": about, "seconds": times}
    harness.finish(options, "compile time", f"{about}\n\n{table(times)}", record)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
