"""What a machine can do at best: the floor, and that a host's ceilings are plausible."""

import pytest

from gpukit.bench import ceilings


def test_the_floor_of_a_copy_is_its_bytes():
    assert ceilings.Ceilings(10e9, 1e12, "").floor(10**9, 0) == pytest.approx(0.1)


def test_the_floor_of_a_product_is_its_operations():
    assert ceilings.Ceilings(10e9, 1e12, "").floor(10**3, 10**12) == pytest.approx(1)


def test_a_host_copies_and_computes():
    found = ceilings.measure()
    assert found.bytes > 1e6
    assert found.flops > 1e6
    assert "NumPy" in found.how
