"""Numbers of every size in kernels: wrapping, casts, division, bits, halves, complex, math."""

import math
import operator

import numpy as np
from numba import (
    boolean,
    complex64,
    cuda,
    float32,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint32,
    uint64,
)
from numba.types import float16

from tests.programs.registry import program


@cuda.jit
def wrap_around(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i, 0] = int8(x[i])
        out[i, 1] = uint8(x[i])
        out[i, 2] = np.int16(x[i] * 257)
        out[i, 3] = uint32(x[i] * 70000)
        out[i, 4] = np.int32(x[i]) << np.int32(20)


@program()
def integer_casts_wrap():
    x = np.arange(-300, 70000, 173)
    out = np.zeros((x.size, 5), np.int64)
    wrap_around[(x.size + 31) // 32, 32](x, out)
    columns = [x.astype(np.int8), x.astype(np.uint8), (x * 257).astype(np.int16)]
    columns += [(x * 70000).astype(np.uint32), x << 20]
    yield out, np.stack([c.astype(np.int64) for c in columns], 1)


@cuda.jit
def four_divisions(a, b, quotient, rest, pair, exact):
    i = cuda.grid(1)
    if i < a.shape[0]:
        quotient[i] = a[i] // b[i]
        rest[i] = a[i] % b[i]
        q, r = divmod(a[i], b[i])
        pair[i, 0], pair[i, 1] = q, r
        exact[i] = a[i] / b[i]


@program()
def division_and_modulo_of_both_signs():
    signs = np.array([(p, q) for p in range(-7, 8) for q in (-3, -2, -1, 1, 2, 5)])
    for dtype in (np.int32, np.float32):
        a, b = np.ascontiguousarray(signs.T).astype(dtype)
        quotient, rest = np.zeros_like(a), np.zeros_like(a)
        pair, exact = np.zeros((a.size, 2), dtype), np.zeros(a.size)
        four_divisions[3, 32](a, b, quotient, rest, pair, exact)
        wanted = [divmod(int(p), int(q)) for p, q in signs]
        yield quotient, np.array([w[0] for w in wanted], dtype)
        yield rest, np.array([w[1] for w in wanted], dtype)
        yield pair, np.array(wanted, dtype)
        yield exact.astype(np.float32), (signs[:, 0] / signs[:, 1]).astype(np.float32)


@cuda.jit
def bit_tricks(x, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        v = x[i]
        out[i, 0] = cuda.popc(v)
        out[i, 1] = cuda.clz(v)
        out[i, 2] = cuda.ffs(v)
        out[i, 3] = cuda.brev(v)
        out[i, 4] = v & -v & 0xFFFFFFFF
        out[i, 5] = (v >> 3) | (v << 29) & 0xFFFFFFFF
        out[i, 6] = v ^ (v >> 1)
        out[i, 7] = ~v & 0xFF
        out[i, 8] = int(v != 0 and (v & (v - 1)) == 0)


@program()
def bit_intrinsics_of_32_bits():
    x = np.random.default_rng(1).integers(1, 2**32, 150, dtype=np.uint32)
    x[:33] = [1 << k for k in range(32)] + [2**32 - 1]
    out = np.zeros((150, 9), np.uint32)
    bit_tricks[5, 32](x, out)
    texts = [f"{v:032b}" for v in x.tolist()]
    yield out[:, 0], [t.count("1") for t in texts]
    yield out[:, 1], [t.index("1") for t in texts]
    yield out[:, 2], [t[::-1].index("1") + 1 for t in texts]
    yield out[:, 3], [int(t[::-1], 2) for t in texts]
    yield out[:, 4], [1 << t[::-1].index("1") for t in texts]
    yield out[:, 5], [int(t[-3:] + t[:-3], 2) for t in texts]
    yield out[:, 6], [v ^ v // 2 for v in x.tolist()]
    yield out[:, 7], 255 - x % 256
    yield out[:, 8], [t.count("1") == 1 for t in texts]


@cuda.jit
def half_precision(x, y, out):
    i = cuda.grid(1)
    if i < x.size:
        a, b = x[i], y[i]
        s = a + b
        p = cuda.fp16.hfma(a, b, s)
        out[0, i] = s
        out[1, i] = p
        out[2, i] = a if a > b else b
        out[3, i] = float16(math.sqrt(float32(abs(a))))
        out[4, i] = float16(3) * a - b


@program()
def half_precision_arithmetic():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 77)).astype(np.float16)
    out = np.full((5, 77), np.nan, np.float16)
    half_precision[3, 32](x, y, out)
    a, b = x.astype(np.float64), y.astype(np.float64)
    yield out, np.stack([a + b, a * b + a + b, np.maximum(a, b), np.sqrt(abs(a)), 3 * a - b])


@cuda.jit(device=True)
def escape(c, limit):
    z = 0j
    for k in range(limit):
        if z.real * z.real + z.imag * z.imag > 4:
            return k
        z = z * z + c
    return limit


@cuda.jit
def complex_numbers(z, w, out, steps):
    i = cuda.grid(1)
    if i < z.size:
        out[i, 0] = z[i] * w[i].conjugate()
        out[i, 1] = z[i] / w[i] + abs(w[i])
        out[i, 2] = complex(w[i].imag, -z[i].real) ** 2
        steps[i] = escape(complex64(z[i]), 50)


@program()
def complex_arithmetic_and_escape_times():
    rng = np.random.default_rng(3)
    z = rng.normal(size=61) + 1j * rng.normal(size=61)
    w = rng.normal(size=61) - 1j
    out, steps = np.full((61, 3), np.nan + 0j), np.zeros(61, np.int16)
    complex_numbers[2, 32](z, w, out, steps)
    yield out[:, 0], z * np.conj(w)
    yield out[:, 1], z / w + np.abs(w)
    yield out[:, 2], (w.imag - 1j * z.real) ** 2
    t = np.zeros(61, np.complex128)
    counts = np.full(61, 50)
    for k in range(50):
        out_now = (np.abs(t) > 2) & (counts == 50)
        counts[out_now] = k
        t = np.where(counts == 50, t * t + z.astype(np.complex64), 3)
    yield steps, counts


@cuda.jit
def math_module(x, out):
    i = cuda.grid(1)
    if i >= x.size:
        return
    v = x[i]
    out[i, 0] = math.sin(v) ** 2 + math.cos(v) ** 2
    out[i, 1] = math.exp(math.log(v)) - math.expm1(math.log1p(v))
    out[i, 2] = math.atan2(v, -v) + math.hypot(3 * v, 4 * v) / v
    out[i, 3] = math.floor(v) + math.ceil(v) * 10 + math.trunc(-v) * 100
    out[i, 4] = math.erf(v) + math.erfc(v)
    out[i, 5] = math.gamma(v + 1) / math.gamma(v)
    out[i, 6] = math.fmod(-v, 0.75) + math.copysign(2.0, -v)
    out[i, 7] = math.degrees(math.radians(v)) + math.pow(v, 0.5) - math.sqrt(v)
    out[i, 8] = math.lgamma(v + 2) - math.log(v + 1) - math.lgamma(v + 1)
    m, e = math.frexp(v)
    out[i, 9] = math.ldexp(m, e + 1)
    frac, whole = math.modf(v)
    out[i, 10] = frac - whole
    out[i, 11] = math.tanh(v) * math.cosh(v) - math.sinh(v)
    out[i, 12] = round(v) + round(v, 1)


@program(tolerance=1e-9)
def functions_of_the_math_module():
    x = np.random.default_rng(4).uniform(0.1, 6, 130)
    out = np.full((130, 13), np.nan)
    math_module[5, 32](x, out)
    one = np.ones_like(x)
    yield out[:, 0], one
    yield out[:, 1] + 1, one
    yield out[:, 2], 5 + one * 0.75 * np.pi
    yield out[:, 3], np.floor(x) + 10 * np.ceil(x) - 100 * np.floor(x)
    yield out[:, 4], one
    yield out[:, 5], x
    yield out[:, 6], -(x % 0.75) - 2
    yield out[:, 7], x
    yield out[:, 8] + 1, one
    yield out[:, 9], 2 * x
    yield out[:, 10], x - 2 * np.floor(x)
    yield out[:, 11] + 1, one
    yield out[:, 12], np.rint(x) + np.round(x, 1)


@cuda.jit
def float_to_int(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i, 0] = int(x[i])
        out[i, 1] = round(x[i])
        out[i, 2] = math.floor(x[i] * 0.5)
        out[i, 3] = np.uint8(x[i] * 10 % 256)
        out[i, 4] = x[i]
        out[i, 5] = bool(x[i]) + (x[i] > 0) - (x[i] < 0)


@program()
def floats_cut_to_integers():
    x = np.array([k / 4 for k in range(-41, 42)], np.float32)
    out = np.zeros((x.size, 6), np.int32)
    float_to_int[3, 32](x, out)
    v = x.astype(np.float64)
    yield out[:, 0], np.trunc(v)
    yield out[:, 1], np.rint(v)
    yield out[:, 2], np.floor(v / 2)
    yield out[:, 3], np.floor(v * 10 % 256)
    yield out[:, 4], np.trunc(v)
    yield out[:, 5], (v != 0) + np.sign(v)


@cuda.jit
def flags(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        p, q = a[i], b[i]
        out[i] = (p and not q) or (q and not p)
        if i % 3 == 0:
            out[i] = p ^ q
        elif i % 3 == 1:
            out[i] |= p and q
        else:
            out[i] &= p or q


@program()
def boolean_arrays():
    a, b = np.random.default_rng(5).random((2, 200)) < 0.5
    out = np.zeros(200, np.bool_)
    flags[7, 32](a, b, out)
    third = np.arange(200) % 3
    yield out, np.choose(third, [a != b, a | b, a != b])


@cuda.jit
def power_sums(x, out):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        total = v**3 - v**2 + v**0
        total += pow(v, 2) * 2 ** (i % 5)
        total -= abs(v) ** 0.5
        out[i] = total
        out[i] **= 2
        out[i] /= 4
        out[i] //= 1


@program()
def powers_and_augmented_operators():
    x = np.arange(-20, 21).astype(np.float64) + 0.25
    out = np.full(x.size, np.nan)
    power_sums[2, 32](x, out)
    two = np.array([1, 2, 4, 8, 16] * 9)[: x.size]
    total = x * x * x - x * x + 1 + x * x * two - np.sqrt(np.abs(x))
    yield out, np.floor(total * total / 4)


@cuda.jit
def hash_mix(x, out):
    i = cuda.grid(1)
    if i < x.size:
        h = uint64(x[i])
        h ^= h >> uint64(33)
        h *= uint64(0xFF51AFD7ED558CCD)
        h ^= h >> uint64(33)
        h = h * uint64(0xC4CEB9FE1A85EC53)
        h ^= h >> uint64(33)
        out[i] = h


@program()
def murmur_finaliser_in_64_bits():
    x = np.random.default_rng(6).integers(0, 2**63, 99, dtype=np.uint64)
    out = np.zeros(99, np.uint64)
    hash_mix[4, 32](x, out)

    def mix(h):
        h ^= h >> 33
        h = h * 0xFF51AFD7ED558CCD % 2**64
        h ^= h >> 33
        h = h * 0xC4CEB9FE1A85EC53 % 2**64
        return h ^ h >> 33

    yield out, np.array([mix(v) for v in x.tolist()], np.uint64)


@cuda.jit
def libdevice_calls(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i, 0] = cuda.libdevice.rsqrtf(x[i])
        out[i, 1] = cuda.libdevice.fmaf_rn(x[i], x[i], float32(1))
        out[i, 2] = cuda.libdevice.saturatef(x[i] - float32(1))
        out[i, 3] = cuda.libdevice.cbrtf(x[i])
        out[i, 4] = cuda.libdevice.float2int_rn(x[i])
        out[i, 5] = cuda.fma(x[i], float32(2), float32(-1))
        out[i, 6] = cuda.cbrt(x[i])
        out[i, 7] = cuda.selp(x[i] > 1.5, i, -1)


@program(tolerance=1e-6)
def libdevice_functions():
    x = np.random.default_rng(7).uniform(0.2, 3, 50).astype(np.float32)
    out = np.full((50, 8), np.nan, np.float32)
    libdevice_calls[2, 32](x, out)
    v = x.astype(np.float64)
    columns = [v**-0.5, v * v + 1, np.clip(v - 1, 0, 1), v ** (1 / 3), np.rint(v), 2 * v - 1]
    columns += [v ** (1 / 3), np.where(v > 1.5, np.arange(50), -1)]
    yield out, np.stack(columns, 1)


@cuda.jit
def numpy_names(x, out):
    i = cuda.grid(1)
    if i < x.size:
        v = np.float32(x[i])
        out[i, 0] = np.maximum(v, np.float32(0)) + np.minimum(v, np.float32(0))
        out[i, 1] = np.sqrt(np.abs(v)) * np.sign(v)
        out[i, 2] = np.exp(-v * v) + np.pi
        out[i, 3] = operator.add(v, v) if np.isfinite(v) else np.float32(0)
        out[i, 4] = float32(int64(np.floor(v))) + int32(boolean(v)) + int16(2)
        out[i, 5] = max(min(v, 1), -1) if not math.isnan(v) else 0.0


@program()
def numpy_functions_on_scalars():
    x = np.random.default_rng(8).normal(size=90) * 3
    out = np.full((90, 6), np.nan)
    numpy_names[3, 32](x, out)
    v = x.astype(np.float32).astype(np.float64)
    columns = [v, np.copysign(np.sqrt(np.abs(v)), v), np.exp(-(v**2)) + np.pi, 2 * v]
    columns += [np.floor(v) + 3, np.clip(v, -1, 1)]
    yield out.astype(np.float32), np.stack(columns, 1).astype(np.float32)
