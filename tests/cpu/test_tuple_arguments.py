"""Arrays in nested tuples are validated like arrays that are arguments themselves."""

import collections
import re

import hypothesis.strategies as st
import numba
import numpy as np
import pytest
from hypothesis import given

import gpukit
from gpukit import cuda, errors
from gpukit.cpu.launch import marshal

Two = collections.namedtuple("Two", "left right")


class Foreign:
    """An array of another library on the memory of a device array."""

    def __init__(self, array, readonly, protocol="__cuda_array_interface__"):
        self.array = array
        interface = {
            "shape": array.shape,
            "typestr": array.dtype.str,
            "version": 3,
            "data": (array.__array_interface__["data"][0], readonly),
        }
        setattr(self, protocol, interface)


def readonly():
    array = np.zeros(4)
    array.flags.writeable = False
    return array


DEVICE = cuda.to_device(np.zeros(4))
GOOD = {
    "host": lambda: np.zeros(4),
    "device": lambda: DEVICE,
    "read-only": readonly,
    "foreign": lambda: Foreign(DEVICE.host, False),
    "read-only foreign": lambda: Foreign(DEVICE.host, True),
    "foreign host": lambda: Foreign(np.zeros(4), False, "__array_interface__"),
    "read-only foreign host": lambda: Foreign(np.zeros(4), True, "__array_interface__"),
    "hint": lambda: cuda.In(np.zeros(4)),
    "columns": lambda: np.zeros((4, 3)).T,
}
BAD = {
    "byte order": lambda: np.zeros(4, ">f8"),
    "objects": lambda: np.array([None]),
    "list": lambda: [1.0],
    "text": lambda: "x",
    "large": lambda: 2**64,
    "function": lambda: readonly,
}


def nested(value, path):
    """Nest a value in tuples; `path` has the kind and position of each, from the inside out."""
    for shape, position in path:
        parts = [1.5, 2] if shape == "named" else [1.5, 2, np.float32(3)]
        parts[position % len(parts)] = value
        value = Two(*parts) if shape == "named" else tuple(parts)
    return value


def positions(path):
    return [position % (2 if shape == "named" else 3) for shape, position in reversed(path)]


PATHS = st.lists(
    st.tuples(st.sampled_from(["tuple", "named"]), st.integers(0, 2)), min_size=1, max_size=4
)


@given(what=st.sampled_from(sorted(GOOD)), path=PATHS)
def test_an_array_in_tuples_has_the_same_kind_as_alone(what, path):
    (kind,) = marshal.pack((nested(GOOD[what](), path),)).kinds
    for position in positions(path):
        kind = kind[2][position]
    assert [kind] == marshal.pack((GOOD[what](),)).kinds


@given(what=st.sampled_from(sorted(BAD)), path=PATHS)
def test_an_invalid_argument_in_tuples_has_the_same_error_as_alone(what, path):
    with pytest.raises(errors.ArgumentError) as alone:
        marshal.pack((BAD[what](),))
    with pytest.raises(errors.ArgumentError, match=f"^{re.escape(str(alone.value))}$"):
        marshal.pack((nested(BAD[what](), path),))


@given(path=PATHS)
def test_overlap_with_an_array_in_tuples_is_detected(path):
    whole = np.zeros(8)
    assert not marshal.pack((nested(whole[:5], path), whole[4:])).distinct()
    assert marshal.pack((nested(whole[:4], path), whole[4:])).distinct()


@given(path=PATHS, wrong=st.sampled_from([np.zeros(4, "f4"), np.zeros((2, 2)), 3.0]))
def test_an_array_in_tuples_that_does_not_match_the_signature_is_refused(path, wrong):
    wanted = numba.typeof(nested(np.zeros(4), path))
    marshal.pack((nested(np.zeros(4), path),), (wanted,))
    with pytest.raises(errors.ArgumentError, match="the kernel's signature says array"):
        marshal.pack((nested(wrong, path),), (wanted,))


def test_a_tuple_shorter_than_in_the_signature_is_refused():
    wanted = numba.typeof((1.0, 2.0, 3.0))
    with pytest.raises(errors.ArgumentError, match=r"got a tuple of 2\. Pass a tuple of 3"):
        marshal.pack(((1.0, 2.0),), (wanted,))


def test_scalars_in_a_tuple_are_cast_to_the_types_of_the_signature():
    wanted = numba.types.UniTuple(numba.float32, 2)
    assert marshal.pack(((1, 2.5),), (wanted,)).kinds[0][2] == ("float32", "float32")


@cuda.jit
def store_kernel(out):
    out[cuda.grid(1)] = 1


@cuda.jit
def store_in_a_tuple_kernel(both):
    both[1].left[cuda.grid(1)] = 1


FOREIGN = ["read-only foreign", "read-only foreign host"]


@pytest.mark.parametrize("what", FOREIGN)
def test_a_store_to_a_read_only_array_of_another_library_is_refused(what):
    with pytest.raises(errors.KernelTypeError, match="read-only"):
        store_kernel[1, 4](GOOD[what]())


@pytest.mark.parametrize("what", ["read-only", *FOREIGN])
def test_a_store_to_a_read_only_array_in_a_tuple_is_refused(what):
    with pytest.raises(errors.KernelTypeError, match="read-only"):
        store_in_a_tuple_kernel[1, 4]((0, Two(GOOD[what](), 0)))


def test_a_read_only_array_of_another_library_stays_read_only_as_a_device_array():
    with pytest.raises(errors.KernelTypeError, match="read-only"):
        store_kernel[1, 4](cuda.as_cuda_array(Foreign(DEVICE.host, True)))


@cuda.jit
def race_kernel(out):
    out[0] = cuda.grid(1)


@pytest.mark.parametrize("what", ["foreign", "foreign host"])
def test_a_race_in_an_array_of_another_library_is_found(what):
    found = gpukit.check(race_kernel)[2, 32](GOOD[what]()).errors
    assert [(f.kind, f.array) for f in found] == [("global-race", "out")]
