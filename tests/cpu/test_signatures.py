"""Signatures in a text name types, and are not run as Python."""

import numpy as np
import pytest

from gpukit import cuda
from tests.safety.attempt import on_cpu

pytestmark = on_cpu

TEXTS = {
    "an import": "__import__('os')",
    "a call": "print(1)",
    "an attribute": "void.__class__",
    "an operator": "float32 + float32",
    "a function of C": "ExternalFunction('abort', void())",
    "a callable type": "Callable",
}


def add(a, b):
    return a + b


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
@pytest.mark.parametrize("use", [cuda.jit, lambda text: cuda.vectorize([text])])
def test_a_signature_that_is_more_than_types_is_refused(text, use):
    with pytest.raises(TypeError, match="invalid signature"):
        use(text)(add)


def test_a_name_that_is_no_type_is_named():
    with pytest.raises(TypeError, match="flaot32 is not a type"):
        cuda.jit("void(flaot32[:])")(lambda x: None)


@pytest.mark.parametrize(
    "text",
    ["void(float32[::1], int64)", "(float32[:], int64)", " void(Array(float32, 1, 'C'), i8)"],
)
def test_a_signature_may_be_any_text_of_types(text):
    @cuda.jit(text)
    def fill_kernel(x, n):
        if cuda.grid(1) < n:
            x[cuda.grid(1)] = 1

    x = np.full(33, np.nan, np.float32)
    fill_kernel[2, 32](x, 33)
    np.testing.assert_array_equal(x, 1)
