"""Device functions that return their own local memory, at the line marked `# refused`."""

import numba
import numpy as np

from gpukit import cuda

PAIR = np.dtype([("x", np.float32), ("y", np.float32)])
NESTED = np.dtype([("id", np.int32), ("props", (np.float32, 3)), ("pair", PAIR)])


@cuda.jit(device=True)
def itself(x):
    r = cuda.local.array(2, np.float32)
    r[0] = x
    return r  # refused


@cuda.jit(device=True)
def directly(x):
    return cuda.local.array(2, np.float32)  # refused


@cuda.jit(device=True)
def alias(x):
    r = cuda.local.array(2, np.float32)
    other = r
    last = other
    return last  # refused


@cuda.jit(device=True)
def in_a_branch(x, argument):
    r = cuda.local.array(2, np.float32)
    if x > 0:
        return r  # refused
    return argument


@cuda.jit(device=True)
def conditional(x, argument):
    r = cuda.local.array(2, np.float32)
    return r if x > 0 else argument  # refused


@cuda.jit(device=True)
def one_of_two(x, argument):
    r = argument
    if x > 0:
        r = cuda.local.array(2, np.float32)
    return r  # refused


@cuda.jit(device=True)
def set_in_a_loop(x, argument):
    mine = cuda.local.array(2, np.float32)
    r = argument
    for _ in range(3):
        argument = r
        r = mine
    return argument  # refused


@cuda.jit(device=True)
def slice_of_it(x):
    r = cuda.local.array(4, np.float32)
    return r[1:3]  # refused


@cuda.jit(device=True)
def row(x):
    r = cuda.local.array((2, 3), np.float32)
    return r[1]  # refused


@cuda.jit(device=True)
def with_ellipsis(x):
    r = cuda.local.array((2, 3), np.float32)
    return r[..., 0]  # refused


@cuda.jit(device=True)
def reshaped(x):
    r = cuda.local.array(6, np.float32)
    return r.reshape(2, 3)  # refused


@cuda.jit(device=True)
def row_of_reshaped(x):
    r = cuda.local.array(6, np.float32)
    return r.reshape((2, 3))[0]  # refused


@cuda.jit(device=True)
def transposed(x):
    r = cuda.local.array((2, 3), np.float32)
    return r.T  # refused


@cuda.jit(device=True)
def flattened(x):
    r = cuda.local.array((2, 3), np.float32)
    return np.ravel(r)  # refused


@cuda.jit(device=True)
def record(x):
    r = cuda.local.array(1, PAIR)[0]
    r.x = x
    return r  # refused


@cuda.jit(device=True)
def field_array(x):
    r = cuda.local.array(1, NESTED)
    return r[0].props  # refused


@cuda.jit(device=True)
def field_record(x):
    r = cuda.local.array(1, NESTED)
    return r[0]["pair"]  # refused


@cuda.jit(device=True)
def fields(x):
    r = cuda.local.array(3, PAIR)
    return r.x  # refused


@cuda.jit(device=True)
def in_a_tuple(x):
    r = cuda.local.array(2, np.float32)
    return r, x  # refused


@cuda.jit(device=True)
def element_of_a_tuple(x, argument):
    r = cuda.local.array(2, np.float32)
    both = (argument, (x, r))
    return both[1]  # refused


@cuda.jit(device=True)
def unpacked(x, argument):
    r = cuda.local.array(2, np.float32)
    _, other = argument, r
    return other  # refused


@cuda.jit(device=True)
def tail(a, n):
    return a[n:]


@cuda.jit(device=True)
def larger(a, b):
    if a[0] > b[0]:
        return a
    return b


@cuda.jit(device=True)
def through_a_function(x):
    r = cuda.local.array(4, np.float32)
    return tail(r, 2)  # refused


@cuda.jit(device=True)
def through_two_functions(x, argument):
    r = cuda.local.array(4, np.float32)
    return larger(argument, tail(a=r, n=1))  # refused


@cuda.jit(device=True)
def through_a_nested_function(x):
    r = cuda.local.array(4, np.float32)

    def inner():
        return r

    return inner()  # refused


@cuda.jit(device=True)
def created_in_a_nested_function(x):
    def inner(n):
        mine = cuda.local.array(4, np.float32)
        mine[0] = n
        return mine

    return inner(2)  # refused


@cuda.jit(device=True, inline="always")
def inlined_into_the_caller(x):
    mine = cuda.local.array(4, np.float32)
    mine[0] = x
    return mine


@cuda.jit(device=True)
def created_by_an_inlined_function(x):
    return inlined_into_the_caller(x)  # refused


@cuda.jit("float32[:](float32)", device=True)
def with_a_signature(x):
    r = cuda.local.array(2, np.float32)
    return r  # refused


@numba.njit
def with_njit(x):
    r = cuda.local.array(2, np.float32)
    return r  # refused


@cuda.jit(device=True, forceinline=True)
def with_forceinline(x):
    r = cuda.local.array(2, np.float32)
    return r  # refused


REFUSED = [
    itself,
    directly,
    alias,
    in_a_branch,
    conditional,
    one_of_two,
    set_in_a_loop,
    slice_of_it,
    row,
    with_ellipsis,
    reshaped,
    row_of_reshaped,
    transposed,
    flattened,
    record,
    field_array,
    field_record,
    fields,
    in_a_tuple,
    element_of_a_tuple,
    unpacked,
    through_a_function,
    through_two_functions,
    through_a_nested_function,
    created_in_a_nested_function,
    created_by_an_inlined_function,
    with_a_signature,
    with_njit,
    with_forceinline,
]
