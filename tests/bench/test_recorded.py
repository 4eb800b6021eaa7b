"""Recorded times: shipped with the package, read by lessons."""

import json

import pytest

from gpukit import draw
from gpukit.bench import recorded

RECORD = {
    "device": "NVIDIA GeForce RTX 3060 Laptop GPU",
    "kernel": "sum_shuffle",
    "size": "10,000,000",
    "seconds": 2e-5,
    "of": {"torch": 1.25, "cupy": 0.9},
}


@pytest.fixture(autouse=True)
def path(tmp_path, monkeypatch):
    """A file of records: a kernel on a GPU, and one on a CPU."""
    cpu = {"device": "a CPU", "kernel": "copy", "size": "1,000", "seconds": 1e-3}
    file = tmp_path / "records.json"
    file.write_text(
        json.dumps({"gpu": [RECORD], "cpu": [cpu, cpu | {"kernel": "fill", "numpy": 2}]})
    )
    monkeypatch.setattr(recorded, "RECORDS", file)
    return file


def test_a_recorded_kernel_is_a_row_with_its_fraction_of_the_fastest_library():
    row = [
        "NVIDIA GeForce RTX 3060 Laptop GPU",
        "sum_shuffle",
        "10,000,000",
        "20 us",
        "90 % of cupy",
    ]
    assert recorded.rows(["sum"]) == [row]


def test_other_kernels_are_left_out():
    assert recorded.rows(["dot", "shuffle"]) == []


def test_lesson_says_that_there_is_no_record():
    words = "No GPU time of these kernels has been recorded yet."
    assert repr(draw.recorded("dot")) == words
    assert draw.recorded("dot")._repr_html_() == f"<p>{words}</p>"


def test_records_are_shown_as_a_table():
    assert "90 % of cupy" in repr(draw.recorded("sum"))
    assert draw.recorded("sum")._repr_html_().count("<td>") == 4


def test_a_time_is_found_by_its_kernel_and_gpu():
    found = recorded.of_gpu("sum_shuffle", "RTX 3060 Laptop")
    assert (found.seconds, found.size) == (2e-5, "10,000,000")


@pytest.mark.parametrize(
    ("kernel", "gpu"), [("sum_shuffle", "RTX 3060"), ("sum", "RTX 3060 Laptop")]
)
def test_another_gpu_or_kernel_has_no_time(kernel, gpu):
    assert recorded.of_gpu(kernel, gpu) is None


def recorded_on(path, device, gpu):
    """Return what is found for a GPU where one record exists, of a device of this name."""
    path.write_text(json.dumps({"gpu": [RECORD | {"device": device}], "cpu": []}))
    return recorded.of_gpu("sum_shuffle", gpu, path)


@pytest.mark.parametrize(
    ("device", "gpu"),
    [
        ("NVIDIA H100 80GB HBM3", "H100"),
        ("NVIDIA A100-SXM4-80GB", "A100"),
        ("NVIDIA A100-SXM4-40GB", "A100 40 GB"),
        ("Tesla V100-SXM2-16GB", "V100"),
        ("NVIDIA GeForce RTX 3060 Laptop GPU", "RTX 3060 Laptop"),
        ("NVIDIA H200", "H200"),
    ],
)
def test_a_gpu_is_found_by_its_drivers_name(path, device, gpu):
    assert recorded_on(path, device, gpu).device == device


@pytest.mark.parametrize(
    ("device", "gpu"),
    [
        ("NVIDIA GeForce RTX 3080 Ti", "RTX 3080"),
        ("NVIDIA H100 PCIe", "H100"),
        ("NVIDIA H200 NVL", "H200"),
    ],
)
def test_a_gpu_of_a_similar_name_is_another_one(path, device, gpu):
    assert recorded_on(path, device, gpu) is None


def test_a_cpu_s_time_says_its_size_and_numpy_s_where_there_is_one():
    assert recorded.of_cpu("copy").cell == "1 ms at 1,000"
    assert recorded.of_cpu("fill").cell == "1 ms, NumPy 2 s at 1,000"
    assert recorded.of_cpu("scan") is None
