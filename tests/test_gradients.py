"""`gradcheck` accepts the backward functions of the book, and finds and explains mistakes."""

import numpy as np
import pytest

import gpukit
from gpukit import GradientError, cuda, gradcheck


def numbers(*shape, draw=0):
    """Return normally distributed numbers, none near 0, where relu is not differentiable."""
    values = np.random.default_rng([20261125, draw, *shape]).standard_normal(shape)
    return values + np.copysign(0.1, values)


# A forward function of the book, its backward function, and inputs.
RIGHT = {
    "relu": (gpukit.relu, gpukit.relu_grad, [numbers(3, 5)]),
    "sigmoid": (
        gpukit.sigmoid,
        lambda grad, x: gpukit.sigmoid_grad(grad, gpukit.sigmoid(x)),
        [numbers(3, 5)],
    ),
    "tanh": (gpukit.tanh, lambda grad, x: gpukit.tanh_grad(grad, gpukit.tanh(x)), [numbers(3, 5)]),
    "gelu": (gpukit.gelu, gpukit.gelu_grad, [numbers(3, 5)]),
    "bias_relu": (
        gpukit.bias_relu,
        lambda grad, x, bias: gpukit.bias_relu_backward(grad, gpukit.bias_relu(x, bias)),
        [numbers(5, 4), np.zeros(4)],
    ),
    "bias_gelu": (gpukit.bias_gelu, gpukit.bias_gelu_backward, [numbers(5, 4), numbers(4)]),
    "linear": (
        gpukit.linear,
        lambda grad, x, weight, _bias: gpukit.linear_backward(grad, x, weight),
        [numbers(5, 4), numbers(3, 4), numbers(3)],
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_backward_function_of_the_book_is_the_gradient_of_its_forward_function(name):
    assert gradcheck(*RIGHT[name])


def product(a, b):
    return a @ b


def product_backward(grad, a, b):
    return grad @ b.T, a.T @ grad


A, B, SQUARE = numbers(3, 4), numbers(4, 2), numbers(3, 3)


def message(forward, backward, inputs, **options):
    with pytest.raises(GradientError) as caught:
        gradcheck(forward, backward, inputs, **options)
    return str(caught.value)


def test_gradients_of_several_inputs_pass():
    assert gradcheck(product, product_backward, [A, B])


def test_inputs_are_not_changed():
    before = A.copy()
    gradcheck(lambda a: a * a, lambda grad, a: 2 * a * grad, [A])
    np.testing.assert_array_equal(A, before)


def test_a_scalar_may_be_an_input():
    assert gradcheck(lambda x: 3 * x, lambda grad, _x: 3 * grad, [np.array(0.5)])


def test_device_arrays_are_accepted():
    assert gradcheck(gpukit.gelu, gpukit.gelu_grad, [cuda.to_device(A)])


def test_an_input_without_a_gradient_is_skipped():
    assert gradcheck(product, lambda grad, _a, b: (grad @ b.T, None), [A, B])


def test_a_wrong_sign_is_found_and_named():
    text = message(np.cos, lambda grad, x: np.sin(x) * grad, [A])
    assert "12 of 12 elements are wrong" in text
    assert "wrong sign" in text


def test_the_input_and_the_worst_element_are_named_with_both_values():
    def backward(grad, a, b):
        right = a.T @ grad
        right[2, 1] = 77
        return grad @ b.T, right

    text = message(product, backward, [A, B])
    weights = np.random.default_rng(0).standard_normal((3, 2))
    assert f"of inputs[1] at [2, 1] to be {(A.T @ weights)[2, 1]:.5g}"[:-1] in text
    assert "got 77; 1 of 8 elements are wrong" in text


def test_a_missing_term_is_found():
    # d/dx x^3 + x, without the 1
    text = message(lambda x: x**3 + x, lambda grad, x: 3 * x**2 * grad, [A])
    assert "a term is missing" in text


def test_a_transposed_gradient_of_a_square_matrix_is_found_and_named():
    text = message(product, lambda grad, a, b: (grad @ b.T, (a.T @ grad).T), [SQUARE, SQUARE])
    assert "Its transpose is right" in text


def test_a_transposed_gradient_of_another_shape_is_found_and_named():
    text = message(product, lambda grad, a, b: (grad @ b.T, (a.T @ grad).T), [A, B])
    assert "have its shape (4, 2), got (2, 4). It is transposed." in text


def test_a_wrong_shape_is_found():
    text = message(np.sin, lambda grad, x: (np.cos(x) * grad)[:2], [A])
    assert "have its shape (3, 4), got (2, 4). There is a slope for each element." in text


@pytest.mark.parametrize(
    ("factor", "hint"),
    [
        (2.0, "a path is counted twice"),
        (0.5, "a factor 2, such as of x^2"),
        (0.0, "a path from this input to the result is missing"),
        (0.25, "0.25 times the slope"),
        (np.nan, "Not all are finite"),
    ],
)
def test_the_ratio_to_the_slope_gives_a_hint(factor, hint):
    text = message(np.sin, lambda grad, x: np.where(x > 0, factor, 1) * np.cos(x) * grad, [A])
    assert hint in text


def test_a_missing_gradient_is_found():
    text = message(product, lambda grad, _a, b: grad @ b.T, [A, B])
    assert "expected a gradient for each of 2 inputs, got 1" in text


def test_float32_inputs_are_refused():
    with pytest.raises(TypeError, match=r"gradcheck: expected inputs\[0\] to be a float64 array"):
        gradcheck(np.sin, np.cos, [A.astype(np.float32)])
