"""Errors of all host functions: they state the function, the expectation and the value received.

No test launches a kernel, so nothing is compiled.
"""

import numpy as np
import pytest

from tests.kernels.host_functions import (
    CASES,
    EVERY,
    IN_PLACE,
    SEVERAL,
    VARIANTS,
    dtype_of,
    overlapping,
)

ARGUMENTS = [(name, at) for name, (_, arrays) in EVERY.items() for at in range(len(arrays))]
every_name = pytest.mark.parametrize(
    "name", [name for name, (_, arrays) in EVERY.items() if arrays]
)


def refusal(name, at, replace):
    """Return the message of the TypeError when one argument is replaced by `replace(argument)`."""
    function, arrays = EVERY[name]
    inputs = [replace(array) if k == at else array for k, array in enumerate(arrays)]
    with pytest.raises(TypeError, match=rf"^{name}: expected ") as caught:
        function(*inputs)
    return str(caught.value)


def refusals(name, replace):
    """Return the message for each argument in turn."""
    return [refusal(name, at, replace) for at in range(len(EVERY[name][1]))]


# All but products in mixed precision, which take two arrays of float16.
OTHER_DTYPES = [
    (name, dtype)
    for dtype in (np.float16, np.int16, np.complex64)
    for name, (_, arrays) in EVERY.items()
    if arrays and not (name.startswith("mixed_") and dtype is np.float16)
]


@pytest.mark.parametrize(("name", "dtype"), OTHER_DTYPES)
def test_another_dtype_is_rejected_for_every_array(name, dtype):
    for message in refusals(name, lambda array: array.astype(dtype)):
        assert f"got {np.dtype(dtype)}. Convert it with " in message


@every_name
def test_a_list_is_rejected_for_every_array(name):
    for message in refusals(name, np.ndarray.tolist):
        assert "got list. Convert it with np.asarray(" in message


@every_name
def test_a_scalar_is_rejected_for_every_array(name):
    for message in refusals(name, np.size):
        assert "got int. " in message


# Functions whose arrays may have different numbers of axes.
OF_ANY_AXES = {
    *[name for name in EVERY if name.endswith(("_step", "_norm", "_norm_backward"))],
    *[name for name in EVERY if name.startswith(("mse_loss", "dropout", "embedding"))],
    *[name for name in EVERY if "softmax" in name],
    *[f"{name}{grad}" for name in ("relu", "sigmoid", "tanh", "gelu") for grad in ("", "_grad")],
    *("invert", "convert", "csr_matvec", "unscale", "apply_mask"),
}
OF_FIXED_AXES = [case for case in ARGUMENTS if case[0] not in OF_ANY_AXES]


@pytest.mark.parametrize(
    ("name", "at", "change"),
    [(*case, "more") for case in OF_FIXED_AXES]
    + [(*case, "less") for case in OF_FIXED_AXES if EVERY[case[0]][1][case[1]].ndim > 1],
)
def test_another_number_of_axes_is_rejected(name, at, change):
    function, arrays = EVERY[name]
    inputs = list(arrays)
    inputs[at] = arrays[at][None] if change == "more" else arrays[at][0]
    with pytest.raises(
        ValueError,
        match=rf"^{name}: expected \w+\.ndim == .*, got shape \(.* Reshape it to \d axes\.$",
    ):
        function(*inputs)


# Functions whose arrays have different dtypes by design, or a dtype that is not a float.
UNLIKE = [
    name for name, (_, arrays) in EVERY.items() if {a.dtype for a in arrays} != {np.dtype("f4")}
] + ["quantize"]


@pytest.mark.parametrize(("name", "at"), [(n, k) for n, k in ARGUMENTS if k and n not in UNLIKE])
def test_mixed_dtypes_are_rejected(name, at):
    message = refusal(name, at, lambda array: array.astype(np.float64))
    assert "one dtype, got float32, " in message
    assert "float64" in message


@pytest.mark.parametrize("name", VARIANTS)
def test_an_unknown_variant_is_rejected_with_a_list_of_variants(name):
    function, arrays = EVERY[name]
    names = ", ".join(repr(variant.name) for variant in VARIANTS[name])
    expected = f"^{name}: expected variant to be one of {names}, got 'fast'. Pick one.$"
    with pytest.raises(ValueError, match=expected):
        function(*arrays, variant="fast")


# ---- outputs --------------------------------------------------------------------------------

every_function = pytest.mark.parametrize("name", CASES)


@every_function
def test_out_of_another_shape_is_rejected(name):
    function, arrays, shape = CASES[name]
    out = np.zeros((*shape[:-1], shape[-1] + 1), dtype_of(name))
    with pytest.raises(ValueError, match=rf"^{name}: expected out\.shape == "):
        function(*arrays, out=out)


@every_function
def test_out_of_another_dtype_is_rejected(name):
    function, arrays, shape = CASES[name]
    with pytest.raises(TypeError, match=rf"{name}: expected out to be a .* got complex64"):
        function(*arrays, out=np.zeros(shape, np.complex64))


INPUTS = [(name, at) for name, (_, arrays, _) in CASES.items() for at in range(len(arrays))]


@pytest.mark.parametrize(
    ("name", "at", "shift"),
    [(name, at, 1) for name, at in INPUTS if CASES[name][1][at].size > 1]
    + [(*case, 0) for case in INPUTS if case not in IN_PLACE],
)
def test_out_that_overlaps_an_input_is_rejected(name, at, shift):
    inputs, out = overlapping(name, at, shift)
    with pytest.raises(ValueError, match=rf"^{name}: expected out to lie apart from \w+, got one"):
        CASES[name][0](*inputs, out=out)


@pytest.mark.parametrize("name", [name for name in SEVERAL if name != "lstm_cell"])
@pytest.mark.parametrize("count", [None, 1])
def test_out_for_several_results_must_be_a_tuple_of_that_length(name, count):
    function, arrays = SEVERAL[name]
    first, found = (arrays[0], "ndarray") if count is None else ((None,), "1 of them")
    expected = rf"^{name}: expected out to be a tuple of \d arrays, got {found}\."
    with pytest.raises(TypeError, match=expected):
        function(*arrays, out=first)
