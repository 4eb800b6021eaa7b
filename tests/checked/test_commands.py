"""gpukit.check, profile and play are called like the kernel itself."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda, errors
from tests.checked.plain_kernels import N, double_kernel

COMMANDS = [gpukit.check, gpukit.profile, gpukit.play]
every_command = pytest.mark.parametrize("command", COMMANDS, ids=["check", "profile", "play"])


@cuda.jit
def default_kernel(out, value=3):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = value


class Copies:
    """An extension that passes copies of arrays to the kernel and copies them back."""

    def prepare_args(self, kind, value, stream, retr):
        array = value.copy()
        retr.append(lambda: value.__setitem__(slice(None), array))
        return kind, array


def numbers():
    return np.arange(N, dtype=np.float32), np.full(N, np.nan, np.float32)


@every_command
@pytest.mark.costly
def test_command_runs_the_kernel_for_all_tasks(command):
    x, out = numbers()
    command(double_kernel).forall(N, tpb=32)(x, out)
    np.testing.assert_array_equal(out, 2 * x)


@every_command
def test_forall_without_tasks_is_rejected(command):
    with pytest.raises(errors.LaunchError, match=r"forall\(0\) starts no threads"):
        command(double_kernel).forall(0)


@every_command
def test_command_without_brackets_says_what_to_write(command):
    with pytest.raises(
        errors.LaunchError, match=rf"write gpukit\.{command.__name__}\(double_kernel\)"
    ):
        command(double_kernel)(*numbers())


@every_command
def test_command_takes_no_keyword_arguments(command):
    x, out = numbers()
    with pytest.raises(errors.ArgumentError, match="no keyword arguments, got out"):
        command(double_kernel)[3, 32](x, out=out)


@every_command
@pytest.mark.parametrize("value", [3, "kernel", None, np.sin])
def test_non_kernel_is_rejected_with_advice(command, value):
    with pytest.raises(
        errors.ArgumentError, match=rf"Write gpukit\.{command.__name__}\(kernel\)\["
    ):
        command(value)


@every_command
@pytest.mark.costly
def test_default_of_a_parameter_is_used(command):
    _, out = numbers()
    command(default_kernel)[3, 32](out)
    assert out.tolist() == [3] * N


@every_command
def test_extension_of_a_kernel_converts_its_arguments(command):
    x, out = numbers()
    command(cuda.jit(extensions=[Copies()])(double_kernel.py_func))[3, 32](x, out)
    np.testing.assert_array_equal(out, 2 * x)


def test_race_in_an_array_made_by_an_extension_is_found():
    @cuda.jit(extensions=[Copies()])
    def kernel(out):
        out[0] = cuda.threadIdx.x

    (found,) = gpukit.check(kernel)[1, 64](np.zeros(1)).errors
    assert (found.kind, found.array) == ("global-race", "out")
