"""Cost functions against a count of operations: kernels run as Python, thread by thread.

Arrays and numbers count their accesses and arithmetic. Kernels with a barrier cannot run this
way; their costs are tested against profile counters, next to their other tests.
"""

import inspect
import itertools
import types

import numpy as np
import pytest

from gpukit.bench.cases import CASES
from gpukit.kernels import extremes, image, transpose
from gpukit.kernels.backprop import dense
from gpukit.kernels.conv import direct, gradients, im2col, windows
from gpukit.launch import Cost


class Tally:
    def __init__(self):
        self.bytes = self.flops = 0


class Number:
    """A float that counts the arithmetic done with it; its value does not matter."""

    def __init__(self, tally):
        self.tally = tally

    def operate(self, other):
        self.tally.flops += 1
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = operate

    def keep(self):
        return self

    __neg__ = __abs__ = keep

    def compare(self, other):
        return True

    __lt__ = __le__ = __gt__ = __ge__ = compare


class Array:
    """An array that counts the bytes loaded and stored, and refuses to be read out of bounds."""

    def __init__(self, tally, shape, itemsize=4):
        self.tally, self.shape, self.itemsize = tally, shape, itemsize
        self.dtype = types.SimpleNamespace(type=lambda value: Number(tally))

    def touch(self, index):
        places = index if isinstance(index, tuple) else (index,)
        assert all(0 <= place < size for place, size in zip(places, self.shape, strict=True))
        self.tally.bytes += self.itemsize

    def __getitem__(self, index):
        self.touch(index)
        return Number(self.tally)

    def __setitem__(self, index, value):
        self.touch(index)


def count(kernel, grid, *args):
    """Run the kernel in blocks of one thread and return its cost.

    [shape] or [shape, itemsize] becomes an Array, a float a Number; the rest is passed unchanged.
    """
    tally = Tally()
    wrappers = {list: lambda arg: Array(tally, *arg), float: lambda arg: Number(tally)}
    args = [wrappers.get(type(arg), lambda arg: arg)(arg) for arg in args]
    xyz = types.SimpleNamespace
    for x, y, z in itertools.product(*map(range, (*grid, 1, 1)[:3])):
        cuda = xyz(
            grid=lambda axes, at=(x, y, z): at[0] if axes == 1 else at[:axes],
            gridsize=lambda axes: grid[0],
            threadIdx=xyz(x=0, y=0, z=0),
            blockIdx=xyz(x=x, y=y, z=z),
            blockDim=xyz(x=1, y=1, z=1),
            gridDim=xyz(**dict(zip("xyz", (*grid, 1, 1), strict=False))),
        )
        numpy = xyz(float32=lambda value: Number(tally))
        called = {name: lambda value: value.operate(None) for name in ("exp", "tanh", "erf")}
        names = {
            name: Number(tally) if isinstance(value, np.float32) else value
            for name, value in kernel.py_func.__globals__.items()
        }
        names |= {"cuda": cuda, "np": numpy, "math": xyz(**called)}
        names |= {  # device functions run as plain Python, with the same names
            name: types.FunctionType(value.py_func.__code__, names)
            for name, value in names.items()
            if hasattr(value, "py_func")
        }
        types.FunctionType(kernel.py_func.__code__, names)(*args)
    return Cost(tally.bytes, tally.flops)


# Kernels without barriers and 16-byte accesses, with the small inputs of the benchmarks.
COUNTED = [
    "fill",
    "vector_add",
    "saxpy",
    "saxpy_grid_stride",
    "invert",
    "grey",
    "box_blur",
    "relu",
    "sigmoid",
    "tanh",
    "gelu",
    "relu_grad",
    "sigmoid_grad",
    "tanh_grad",
    "gelu_grad",
    "copy",
    "copy_strided",
    "transpose_naive",
    "matmul_uncoalesced",
    "matmul_naive",
    "matvec_thread_a_row",
    "linear_naive",
    "linear_grad_x",
    "linear_grad_weight",
    "mse_terms",
    "mse_grad",
    "dequantize",
    "dequantize_sums",
]


def described(argument):
    """Return an argument of a launch in the form that `count` takes."""
    if isinstance(argument, np.ndarray):
        return [argument.shape, argument.itemsize]
    return float(argument) if isinstance(argument, np.floating) else argument


@pytest.mark.parametrize("name", COUNTED)
def test_cost_equals_the_operations_of_the_kernel(name):
    comparison = CASES[name].of(*CASES[name].small[0])
    grid, block, *_ = comparison.ours.shape
    threads = np.multiply((*np.atleast_1d(grid), 1, 1)[:3], (*np.atleast_1d(block), 1, 1)[:3])
    counted = count(comparison.ours.kernel, threads, *map(described, comparison.ours.arguments))
    assert counted == comparison.cost


@pytest.mark.parametrize("itemsize", [4, 8])
def test_copy_and_naive_transpose_costs_equal_the_operations_of_the_kernels(itemsize):
    x, turned = [(7, 11), itemsize], [(11, 7), itemsize]
    counted = [
        count(transpose.copy_kernel, (12, 9), x, x),
        count(transpose.copy_strided_kernel, (9, 12), x, x),
        count(transpose.transpose_naive_kernel, (12, 9), x, turned),
    ]
    variants = [*transpose.COPY_VARIANTS[:2], transpose.TRANSPOSE_VARIANTS[0]]
    assert counted == [variant.cost(7, 11, itemsize) for variant in variants]


@pytest.mark.parametrize("radius", [0, 1, 3, 6, 10, 20])
def test_box_blur_cost_equals_the_operations_of_the_kernel(radius):
    counted = count(image.box_blur_kernel, (12, 9), [(7, 11)], radius, [(7, 11)])
    assert counted == image.box_blur_cost(7, 11, radius)


# Images, weights, stride, padding, dilation.
LAYERS = [
    ((2, 3, 7, 5), (4, 3, 3, 2), (1, 1), (1, 1), (1, 1)),
    ((1, 2, 9, 8), (3, 2, 2, 3), (2, 3), (0, 2), (1, 1)),
    ((1, 1, 1, 1), (2, 1, 5, 5), (1, 2), (2, 3), (1, 1)),
    ((2, 4, 6, 9), (6, 2, 2, 3), (3, 1), (2, 1), (1, 2)),
]


@pytest.mark.parametrize("planes", [1, 3, 8])
@pytest.mark.parametrize("layer", LAYERS, ids=str)
def test_convolution_costs_equal_the_operations_of_kernels_without_barriers(layer, planes):
    picture, weight, *moves = layer
    size, window = picture[2:], weight[2:]
    rows, cols = windows.out_sizes(size, window, *moves)
    out = (picture[0], weight[0], rows, cols)
    columns = (picture[0], picture[1] * window[0] * window[1], rows, cols)
    channels = picture[0] * picture[1]  # of all images
    by_plane = (channels, *window, rows, cols)
    grid, back = (cols + 2, rows + 1, planes), (size[1] + 1, size[0] + 2, planes)
    bias, all_columns = weight[:1], (cols + 2, rows + 1, columns[0] * columns[1])
    counted = [
        count(direct.conv2d_direct_kernel, grid, [picture], [weight], [bias], *moves, [out]),
        count(gradients.conv2d_grad_input_kernel, back, [out], [weight], *moves, [picture]),
        count(im2col.im2col_kernel, all_columns, [picture], window, *moves, [columns]),
        count(im2col.col2im_kernel, back, [by_plane], *moves, [(channels, *size)]),
    ]
    named = dict(zip(("stride", "padding", "dilation"), moves, strict=True))
    assert counted == [
        direct.conv2d_direct_cost(picture, weight, **named),
        gradients.conv2d_grad_input_cost(picture, weight, **named),
        im2col.im2col_cost(picture, window, **named),
        im2col.col2im_cost(picture, window, **named),
    ]


@pytest.mark.parametrize("itemsize", [4, 8])
def test_linear_costs_equal_the_operations_of_the_kernels(itemsize):
    x, weight, out, bias = ([shape, itemsize] for shape in ((5, 3), (4, 3), (5, 4), (4,)))
    counted = [
        count(dense.linear_naive_kernel, (6, 6), x, weight, bias, out),
        count(dense.linear_grad_x_kernel, (6, 6), out, weight, x),
        count(dense.linear_grad_weight_kernel, (6, 6), out, x, weight),
    ]
    assert counted == [variant.cost(5, 3, 4, itemsize) for variant in dense.VARIANTS]


# Costs of float32 are counted; costs of float64 follow from them.
BY_ITEMSIZE = [
    pytest.param(entry.variant, id=name)
    for name, entry in CASES.items()
    if "itemsize" in inspect.signature(entry.variant.cost).parameters
    # In these, some arrays have another itemsize, or shapes are not plain numbers.
    if entry.group
    not in ("augment", "histogram", "embedding", "conv", "pool", "pool_grad", "sparse")
    and name not in ("grey", "invert")
]
SIZES = (37, 41, 43, 47, 53)


@pytest.mark.parametrize("variant", BY_ITEMSIZE)
def test_cost_of_float64_has_twice_the_bytes_and_as_many_operations(variant):
    named = inspect.signature(variant.cost).parameters
    sizes = dict(zip((n for n, p in named.items() if p.default is p.empty), SIZES, strict=False))
    wider = {size: 8 for size in ("itemsize", "placesize", "targetsize") if size in named}
    one, two = variant.cost(**sizes), variant.cost(**sizes, **wider)
    fixed = 8 if variant.name == "argmax_finish" else 0  # the int64 index that it returns
    assert two.bytes - fixed == 2 * (one.bytes - fixed)
    assert (two.flops, one.bytes > fixed) == (one.flops, True)


@pytest.mark.parametrize("variant", extremes.VARIANTS[2:], ids=lambda variant: variant.name)
def test_cost_of_int64_indices_is_four_bytes_more_per_index(variant):
    n = 1009
    places = variant.grid("test", n)[0] if variant.name == "argmax" else n
    assert variant.cost(n, placesize=8).bytes == variant.cost(n).bytes + 4 * places
