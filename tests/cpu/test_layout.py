"""Address, shape and strides of arrays as they are passed to kernels."""

import numpy as np
import pytest

from gpukit.cpu.memory import layout

WHOLE = np.arange(60, dtype=np.int32).reshape(3, 4, 5)


class Subclass(np.ndarray):
    """A subclass of ndarray."""


def read_only():
    copied = WHOLE.copy()
    copied.flags.writeable = False
    return copied


ARRAYS = {
    "whole": WHOLE,
    "slice": WHOLE[1:, ::2, 3],
    "reversed": WHOLE[::-1, :, ::-1],
    "transposed": WHOLE.T,
    "read-only": read_only(),
    "empty": WHOLE[:, :0],
    "zero-dimensional": np.array(2.5),
    "broadcast": np.broadcast_to(np.float32(1), (4, 4)),
    "buffer of bytes": np.frombuffer(b"12345678", np.int16),
    "subclass": WHOLE.view(Subclass)[1],
    "field of records": np.zeros(3, [("a", "i4"), ("b", "f8")])["b"],
}


@pytest.mark.parametrize("name", ARRAYS)
def test_address_shape_and_strides_are_those_of_numpy(name):
    array = ARRAYS[name]
    address = array.__array_interface__["data"][0]
    assert layout.address_of(array) == address
    assert layout.layout_of(array).words == (address, *array.shape, *array.strides)
