"""What a machine can do at best: the floor, and that a host's ceilings are plausible."""

import pytest

from gpukit.bench import ceilings
from gpukit.checked import gpus


def test_the_floor_of_a_copy_is_its_bytes():
    assert ceilings.Ceilings(10e9, 1e12, "").floor(10**9, 0) == pytest.approx(0.1)


def test_the_floor_of_a_product_is_its_operations():
    assert ceilings.Ceilings(10e9, 1e12, "").floor(10**3, 10**12) == pytest.approx(1)


def test_the_floor_of_a_product_on_tensor_cores_is_what_they_take():
    tensor = {"bf16": 8e12, "tf32": 4e12}
    found = ceilings.Ceilings(1e12, 1e12, "", tensor)
    floors = [found.floor(10**3, 10**12, units) for units in ("", "tf32", "bf16")]
    assert floors == pytest.approx([1, 1 / 4, 1 / 8])


def test_the_ceiling_of_tensor_cores_is_that_of_the_gpu():
    h200 = gpus.find("H200")
    tf32, bf16 = gpus.tensor_flops(h200.capability)
    assert bf16 == 2 * tf32
    assert h200.sms * bf16 * 1.83e9 == pytest.approx(h200.tensor_bfloat16, rel=0.02)


def test_a_host_copies_and_computes():
    found = ceilings.measure()
    assert found.bytes > 1e6
    assert found.flops > 1e6
    assert "NumPy" in found.how
