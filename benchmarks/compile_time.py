"""How much processor time the first launch of a kernel takes, its code not on the disk.

    python benchmarks/compile_time.py [--tree OTHER] [--rounds 5] [--json out.json] [--write]

Every launch has a process of its own, which has imported Numba and NumPy before the clock starts.
With `--tree`, a folder that holds another version of gpukit, both are measured in turns. Figures
are medians of processor time, which says more than time passed where a machine is busy.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from benchmarks.speed import load, machine, put  # noqa: E402

# The child takes gpukit from its first argument, and the program below from this tree.
CHILD = """
import sys, time
sys.path[:0] = sys.argv[1], sys.argv[2]
import numba, numpy as np
from gpukit import cuda
rng = np.random.default_rng(1)
{prepare}
start = time.process_time()
{launch}
print(time.process_time() - start)
"""
OVERLAP = """
import importlib.util
spec = importlib.util.spec_from_file_location("cases", sys.argv[2] + "/benchmarks/compile_cases.py")
cases = importlib.util.module_from_spec(spec)
spec.loader.exec_module(cases)
boxes = rng.random((130, 5)).astype(np.float32)
out = np.full((130, 130), np.nan, np.float32)
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
    "rotated boxes, 9 device functions": (
        OVERLAP,
        "cases.rotated_overlap_kernel[(3, 3), 64](boxes, boxes, -1, out)",
    ),
    "matmul, tiled": (
        "import gpukit; a, b = rng.random((2, 64, 64), np.float32)",
        "gpukit.matmul(a, b, variant='tiled')",
    ),
    "matmul, register tile 2d": (
        "import gpukit; a, b = rng.random((2, 128, 128), np.float32)",
        "gpukit.matmul(a, b, variant='register_tile_2d')",
    ),
    "argmax": ("import gpukit; x = rng.random(1000, np.float32)", "gpukit.argmax(x)"),
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
        [sys.executable, "-c", text, str(tree), str(ROOT)],
        env={**os.environ, "GPUKIT_CACHE": "0", "GPUKIT_TARGET": "cpu", "PYTHONPATH": ""},
        cwd=tree,
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout.splitlines()[-1])  # a training prints its losses before


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and write what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tree", type=Path, help="a folder with another version of gpukit")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--write", action="store_true", help="write docs/speed.md")
    options = parser.parse_args(arguments)
    trees = {"now": ROOT} | ({"before": options.tree} if options.tree else {})
    before = load()
    times: dict[str, dict[str, list[float]]] = {
        name: {side: [] for side in trees} for name in PROGRAMS
    }
    for _ in range(options.rounds):
        for name in PROGRAMS:
            for side, tree in trees.items():
                times[name][side].append(child(tree, name))
    loads = f"{before} before, {load()} after"
    text = (
        f"Seconds of processor time, medians of {options.rounds}, on: {machine()}. "
        f"Load average {loads}.\n\n{table(times)}"
    )
    print(text)
    if options.write:
        put("compile time", text)
    if options.json:
        made = {"machine": machine(), "load": loads, "seconds": times}
        options.json.write_text(json.dumps(made, indent=1) + "\n")
    return 0


def table(times: dict[str, dict[str, list[float]]]) -> str:
    """Return medians as a Markdown table; with what was before where that was measured."""
    lines = ["| first launch | before | now | now / before |", "|---|---:|---:|---:|"]
    for name, sides in times.items():
        now = statistics.median(sides["now"])
        if "before" in sides:
            was = statistics.median(sides["before"])
            lines.append(f"| {name} | {was:.2f} | {now:.2f} | {now / was:.2f} |")
        else:
            lines.append(f"| {name} | - | {now:.2f} | - |")
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
