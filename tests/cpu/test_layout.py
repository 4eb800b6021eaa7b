"""What kernels are told of where an array lies."""

import numpy as np
import pytest

from gpukit.cpu.memory import layout

WHOLE = np.arange(60, dtype=np.int32).reshape(3, 4, 5)


class Kind(np.ndarray):
    """An array of a type of its own."""


def read_only():
    made = WHOLE.copy()
    made.flags.writeable = False
    return made


ARRAYS = {
    "whole": WHOLE,
    "part": WHOLE[1:, ::2, 3],
    "backwards": WHOLE[::-1, :, ::-1],
    "transposed": WHOLE.T,
    "read-only": read_only(),
    "without elements": WHOLE[:, :0],
    "without axes": np.array(2.5),
    "broadcast": np.broadcast_to(np.float32(1), (4, 4)),
    "memory of bytes": np.frombuffer(b"12345678", np.int16),
    "type of its own": WHOLE.view(Kind)[1],
    "records": np.zeros(3, [("a", "i4"), ("b", "f8")])["b"],
}


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_lies_where_numpy_says_that_it_does(name):
    array = ARRAYS[name]
    address = array.__array_interface__["data"][0]
    assert layout.address_of(array) == address
    assert layout.layout_of(array).words == (address, *array.shape, *array.strides)
