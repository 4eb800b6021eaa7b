"""`check` and `profile` of a function that launches kernels."""

import numpy as np
import pytest

import gpukit
from gpukit import errors
from tests.checked.plain_kernels import collide_kernel, double_kernel

pytestmark = pytest.mark.cpu


def quadruple(x, out):
    between = np.empty_like(x)
    double_kernel[1, 32](x, between)
    double_kernel[1, 32](between, out)


def test_check_returns_one_report_for_all_launches_of_a_function():
    def both(x, out):
        quadruple(x, out)
        collide_kernel[1, 32](np.zeros(1, np.int32))

    report = gpukit.check(both)(np.ones(5), np.zeros(5))
    assert report.launches == 3
    assert [(found.kernel, "race" in found.kind) for found in report.errors] == [
        ("collide_kernel", True)
    ]


def test_profile_returns_the_profile_of_each_launch_of_a_function_in_order():
    first, second = gpukit.profile(quadruple)(np.ones(5), np.zeros(5))
    assert first.kernel == second.kernel == "double_kernel"
    assert first.total["global_bytes_asked"] == 80


@pytest.mark.parametrize("command", [gpukit.check, gpukit.profile])
def test_function_has_its_side_effects(command):
    out = np.full(5, np.nan)
    command(quadruple)(np.arange(5.0), out=out)
    assert out.tolist() == [0, 4, 8, 12, 16]


def test_method_is_accepted():
    class Layer:
        def forward(self, x):
            double_kernel[1, 32](x, np.empty_like(x))

    assert gpukit.check(Layer().forward)(np.ones(3)).launches == 1


def test_launches_after_a_failed_function_are_plain():
    def failing():
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        gpukit.check(failing)()
    collide_kernel[1, 32](np.zeros(1, np.int32))


@pytest.mark.parametrize("command", [gpukit.check, gpukit.profile])
def test_function_without_a_launch_is_rejected(command):
    with pytest.raises(errors.LaunchError, match="nothing launched no kernel"):
        command(nothing)()


def nothing():
    pass


def test_play_rejects_functions():
    with pytest.raises(errors.LaunchError, match="launch configuration was not specified"):
        gpukit.play(quadruple)(np.ones(5), np.zeros(5))
