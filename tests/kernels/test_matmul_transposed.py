"""Products with an operand transposed while it is loaded; test_backprop.py tests their costs."""

import numpy as np
import pytest

from gpukit.cpu.launch import launcher
from gpukit.kernels import matmul
from gpukit.kernels.matmul import nt, tn

TRANSPOSED = [
    (nt.matmul_nt_tiled_kernel, "tiled", False, True),
    (nt.matmul_nt_vectorized_kernel, "vectorized", False, True),
    (tn.matmul_tn_tiled_kernel, "tiled", True, False),
    (tn.matmul_tn_vectorized_kernel, "vectorized", True, False),
]


@pytest.mark.parametrize(
    ("variant", "a_turned", "b_turned", "dtype"),
    [(*case[1:], np.float32) for case in TRANSPOSED]
    + [(*case[1:], np.float64) for case in TRANSPOSED if case[1] == "tiled"],
)
@pytest.mark.parametrize(
    ("m", "n", "k"),
    [(1, 1, 1), (16, 16, 16), (15, 17, 33), (31, 29, 1), (4, 8, 12), (132, 260, 20), (128, 4, 16)],
)
def test_matmul_of_a_transposed_matrix_matches_the_reference(
    variant, a_turned, b_turned, m, n, k, dtype, signed, assert_close
):
    a, b = signed(m, k, dtype=dtype), signed(k, n, dtype=dtype)
    size = matmul.matmul_reference(np.abs(a), np.abs(b))
    inputs = (a.T.copy() if a_turned else a, b.T.copy() if b_turned else b)
    out = np.full((m, n), np.nan, dtype)
    matmul.matmul(*inputs, transpose_a=a_turned, transpose_b=b_turned, variant=variant, out=out)
    assert_close(out, matmul.matmul_reference(a, b), magnitude=size, length=k)


@pytest.mark.parametrize(("kernel", "variant", "a_turned", "b_turned"), TRANSPOSED)
def test_matmul_launches_the_kernel_for_transposed_matrices(
    kernel, variant, a_turned, b_turned, monkeypatch
):
    seen = []
    launcher.observe_launches(lambda kernel, *_: seen.append(kernel))
    a = np.ones((8, 8), np.float32)
    try:
        matmul.matmul(a, a, transpose_a=a_turned, transpose_b=b_turned, variant=variant)
    finally:
        launcher.observe_launches(None)
    assert seen == [kernel]


def test_matmul_rejects_two_transposed_operands():
    with pytest.raises(ValueError, match="expected transpose_a or transpose_b, got both"):
        matmul.matmul(np.ones((3, 3)), np.ones((3, 3)), transpose_a=True, transpose_b=True)


def test_matmul_rejects_transpose_for_a_variant_without_it():
    with pytest.raises(ValueError, match="expected variant to be one of 'tiled', 'vectorized'"):
        matmul.matmul(np.ones((3, 3)), np.ones((3, 3)), transpose_b=True, variant="naive")


@pytest.mark.parametrize(
    ("turned", "message"),
    [
        ({}, r"a\.shape\[1\] == b\.shape\[0\], got \(3, 2\) and \(5, 4\)"),
        ({"transpose_a": True}, r"a\.shape\[0\] == b\.shape\[0\]"),
        ({"transpose_b": True}, r"a\.shape\[1\] == b\.shape\[1\]"),
    ],
)
def test_matmul_error_names_the_axes_that_must_agree(turned, message):
    with pytest.raises(ValueError, match=message):
        matmul.matmul(np.ones((3, 2)), np.ones((5, 4)), **turned)
