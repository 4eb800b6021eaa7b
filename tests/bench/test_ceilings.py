"""Hardware ceilings: the time floor of a kernel, and measured ceilings of the host."""

import pytest

from gpukit.bench import ceilings
from gpukit.checked import gpus


def test_the_time_floor_of_a_copy_follows_from_its_bytes():
    assert ceilings.Ceilings(10e9, 1e12, "").floor(10**9, 0) == pytest.approx(0.1)


def test_the_time_floor_of_a_matrix_product_follows_from_its_operations():
    assert ceilings.Ceilings(10e9, 1e12, "").floor(10**3, 10**12) == pytest.approx(1)


def test_the_time_floor_of_a_product_on_tensor_cores_uses_their_peak():
    tensor = {"bf16": 8e12, "tf32": 4e12}
    found = ceilings.Ceilings(1e12, 1e12, "", tensor)
    floors = [found.floor(10**3, 10**12, units) for units in ("", "tf32", "bf16")]
    assert floors == pytest.approx([1, 1 / 4, 1 / 8])


def test_tensor_core_ceilings_depend_on_the_gpu():
    h200 = gpus.find("H200")
    tf32, bf16 = gpus.tensor_flops(h200.capability)
    assert bf16 == 2 * tf32
    assert h200.sms * bf16 * 1.83e9 == pytest.approx(h200.tensor_bfloat16, rel=0.02)


def test_host_ceilings_are_plausible():
    found = ceilings.measure()
    assert found.bytes > 1e6
    assert found.flops > 1e6
    assert "NumPy" in found.how
