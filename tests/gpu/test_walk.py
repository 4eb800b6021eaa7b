"""Runs all code for GPUs on a fake driver (`fake_driver`).

Needs NVIDIA's compilers (`make codegen`), as kernels are compiled and linked like at a launch.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.compilers
HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def on_the_gpu(*command, folder=ROOT, libraries=False):
    """Run Python in a process with a fake GPU, and with `libraries` with fake CuPy and PyTorch."""
    path = [HERE / "startup", ROOT, *([HERE / "libraries"] if libraries else [])]
    return subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=folder,
        env={**os.environ, "GPUKIT_TARGET": "cuda", "PYTHONPATH": os.pathsep.join(map(str, path))},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )


@pytest.fixture(scope="module")
def figures(tmp_path_factory):
    """The results of `gpu_run.py`, started from another folder."""
    folder = tmp_path_factory.mktemp("run")
    done = on_the_gpu(
        ROOT / "benchmarks" / "gpu_run.py",
        "fill",
        "sum_vectorized",
        "--rehearse",
        "--out",
        "gpu.json",
        folder=folder,
        libraries=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads((folder / "gpu.json").read_text(encoding="utf-8"))


def test_a_gpu_run_measures_kernels_with_right_answers(figures):
    assert [r["kernel"] for r in figures["results"]] == ["fill", "sum_vectorized"]
    assert (figures["wrong"], figures["died"], figures["left_out"]) == ({}, {}, [])
    assert figures["environment"]["capability"] == [9, 0]


def test_a_gpu_run_measures_working_libraries_and_names_failing_ones(figures):
    for result in figures["results"]:
        assert set(result["seconds"]) == {"gpukit", "CuPy"}
        assert result["failed"] == {"PyTorch": "RuntimeError: the driver is too old"}


def test_a_gpu_run_reports_the_ceilings_of_tensor_cores(figures):
    ceilings = figures["ceilings"][0]
    assert ceilings["tensor"]["bf16"] == 2 * ceilings["tensor"]["tf32"] > 10 * ceilings["flops"]


def test_a_calibration_predicts_kernels_from_their_code_and_then_times_them(tmp_path):
    done = on_the_gpu(
        ROOT / "benchmarks" / "calibrate.py",
        "sum_atomic",
        "matmul_tiled",
        *("--rehearse", "--gpu", "H200", "--out", "record.json"),
        folder=tmp_path,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    record = json.loads((tmp_path / "record.json").read_text(encoding="utf-8"))
    assert record["environment"]["device"] == "Fake GPU"
    assert len(record["microbenchmarks"]) == 29
    assert (record["wrong"], record["failed"], record["left_out"]) == ({}, {}, [])
    assert all(one["bases"].keys() == {"source", "SASS"} for one in record["predictions"].values())
    assert record["sha256"] in done.stdout
    assert record["times"].keys() == record["predictions"].keys()


def test_bench_times_kernels_with_events_of_the_gpu():
    code = (
        "from gpukit import cli; from gpukit.bench import ceilings; ceilings.COPIED = 1 << 16\n"
        "raise SystemExit(cli.main(['bench', 'fill', '--quick', '--json']))"
    )
    done = on_the_gpu("-c", code, libraries=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (result,) = json.loads(done.stdout)["results"]
    assert result["right"]
    assert set(result["gpu"]) == {"gpukit", "CuPy"}


def test_a_kernel_compiles_with_a_numpy_without_row_stack():
    code = (
        "import numpy as np; del np.row_stack\n"
        "from gpukit.kernels import vector\n"
        "print(vector.fill(3, 2.0).tolist())\n"
    )
    done = on_the_gpu("-c", code)
    assert done.stdout.strip() == "[2.0, 2.0, 2.0]", done.stderr


def test_tests_of_kernels_are_collected_on_a_gpu():
    done = on_the_gpu("-m", "pytest", "tests/kernels", "tests/primitives", "--collect-only", "-q")
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.parametrize(
    "tests",
    [
        "gpu/test_on_a_gpu.py",
        "kernels/test_histogram.py",
        "primitives/test_unroll.py",
        "primitives/test_vectorized.py",
    ],
)
def test_tests_pass_on_a_gpu(tests):
    done = on_the_gpu("-m", "pytest", ROOT / "tests" / tests, "-q", "-p", "no:cacheprovider")
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout
