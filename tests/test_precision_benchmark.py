"""The benchmark of lower precision at small sizes: that its answers are checked, never times."""

import numpy as np
import pytest

from benchmarks import formats, precision
from gpukit import nn

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.costly
def test_every_format_of_a_layer_gives_the_right_product(rows, monkeypatch):
    monkeypatch.setattr(formats, "LAYER", 64)
    sides, sizes = formats.products(rows)  # compares each with NumPy
    assert sides.keys() == sizes.keys()
    float32 = sizes["float32"]
    assert (sizes["float16"], sizes["int8"]) == (float32 // 2, float32 // 4 + 4 * 64)


def test_a_wrong_product_is_never_timed(monkeypatch):
    monkeypatch.setattr(formats, "LAYER", 8)
    monkeypatch.setattr(formats.gpukit, "matvec", lambda *_: np.zeros(8, np.float32))
    with pytest.raises(AssertionError, match="float32"):
        formats.products(1)


def test_bytes_are_those_of_weights_scales_indices_and_biases():
    model = precision.network()
    nn.Parameters(model, seed=0)
    weights = sum(a * b for a, b in zip(precision.WIDTHS, precision.WIDTHS[1:], strict=False))
    outputs = sum(precision.WIDTHS[1:])
    assert precision.bytes_of(model) == 4 * weights + 4 * outputs
    images = np.ones((4, 1, 8, 8), np.float32)
    assert precision.bytes_of(nn.quantized(model, images)) == weights + 8 * outputs
    nn.prune_2_4(model)
    half = precision.bytes_of(nn.compressed(model, "2:4"))
    assert half == 2 * weights + weights // 4 + 4 * outputs


@pytest.mark.slow
def test_gradients_that_vanish_are_counted(monkeypatch):
    examples, _ = nn.digits()
    few = tuple(part[:130] for part in examples)
    model = precision.network()
    state = nn.Parameters(model, seed=0).state()
    found = {
        name: precision.vanished(state, few, options, 1e-6)
        for name, options in precision.SETTINGS.items()
    }
    # In bfloat16 another unit may be inactive, or terms may cancel.
    assert found["float32"] == 0 <= found["bfloat16"] < 0.001
    assert found["float16, scaled"] < 0.1 < 0.9 < found["float16, not scaled"]
