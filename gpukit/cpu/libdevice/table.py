"""The argument types, result types and expression of each libdevice function.

A row is `name takes>gives | expression in x, y, z`; where there are two names, the first is the
float64 function, the second the float32 one, and `r` in the types and `R` in the expression
stand for its type. Types: h int16, i int32, l int64, f float32, d float64.
Several results are separated by `;`.
"""

from __future__ import annotations

Row = tuple[str, str, str]

_REAL = """
sin sinf            r>r    | math.sin(x)
cos cosf            r>r    | math.cos(x)
tan tanf            r>r    | math.tan(x)
asin asinf          r>r    | math.asin(x)
acos acosf          r>r    | math.acos(x)
atan atanf          r>r    | math.atan(x)
sinh sinhf          r>r    | math.sinh(x)
cosh coshf          r>r    | math.cosh(x)
tanh tanhf          r>r    | math.tanh(x)
asinh asinhf        r>r    | math.asinh(x)
acosh acoshf        r>r    | math.acosh(x)
atanh atanhf        r>r    | math.atanh(x)
atan2 atan2f        rr>r   | math.atan2(x, y)
sincos sincosf      r>rr   | math.sin(x) ; math.cos(x)
sinpi sinpif        r>r    | math.sin(math.pi * half_turn(x))
cospi cospif        r>r    | math.cos(math.pi * half_turn(x))
sincospi sincospif  r>rr   | math.sin(math.pi * half_turn(x)) ; math.cos(math.pi * half_turn(x))
exp expf            r>r    | math.exp(x)
exp2 exp2f          r>r    | np.exp2(x)
exp10 exp10f        r>r    | math.pow(R(10), x)
expm1 expm1f        r>r    | math.expm1(x)
log logf            r>r    | math.log(x)
log2 log2f          r>r    | np.log2(x)
log10 log10f        r>r    | math.log10(x)
log1p log1pf        r>r    | math.log1p(x)
logb logbf          r>r    | logb(x)
ilogb ilogbf        r>i    | ilogb(x)
pow powf            rr>r   | math.pow(x, y)
powi powif          ri>r   | math.pow(np.float64(x), np.float64(y))
sqrt sqrtf          r>r    | math.sqrt(x)
rsqrt rsqrtf        r>r    | R(1) / math.sqrt(x)
cbrt cbrtf          r>r    | cuda.cbrt(x)
rcbrt rcbrtf        r>r    | R(1) / cuda.cbrt(x)
hypot hypotf        rr>r   | math.hypot(x, y)
ceil ceilf          r>r    | np.ceil(x)
floor floorf        r>r    | np.floor(x)
trunc truncf        r>r    | np.trunc(x)
rint rintf          r>r    | np.rint(x)
nearbyint nearbyintf r>r   | np.rint(x)
round roundf        r>r    | round_away(x)
llrint llrintf      r>l    | np.rint(x)
llround llroundf    r>l    | round_away(x)
fabs fabsf          r>r    | abs(x)
copysign copysignf  rr>r   | math.copysign(x, y)
fdim fdimf          rr>r   | R(0) if x <= y else x - y
fmax fmaxf          rr>r   | max(x, y)
fmin fminf          rr>r   | min(x, y)
fmod fmodf          rr>r   | np.fmod(x, y)
remainder remainderf rr>r  | remainder(x, y)
fma fmaf            rrr>r  | cuda.fma(x, y, z)
fma_rn fmaf_rn      rrr>r  | cuda.fma(x, y, z)
frexp frexpf        r>ri   | math.frexp(x)[0] ; math.frexp(x)[1]
modf modff          r>rr   | math.modf(x)[0] ; math.modf(x)[1]
ldexp ldexpf        ri>r   | math.ldexp(x, y)
scalbn scalbnf      ri>r   | math.ldexp(x, y)
nextafter nextafterf rr>r  | np.nextafter(x, y)
erf erff            r>r    | math.erf(x)
erfc erfcf          r>r    | math.erfc(x)
erfcx erfcxf        r>r    | erfcx(np.float64(x))
erfinv erfinvf      r>r    | erfinv(np.float64(x))
erfcinv erfcinvf    r>r    | erfcinv(np.float64(x))
normcdf normcdff    r>r    | 0.5 * math.erfc(-np.float64(x) / SQRT_2)
normcdfinv normcdfinvf r>r | -SQRT_2 * erfcinv(2.0 * np.float64(x))
tgamma tgammaf      r>r    | math.gamma(x)
lgamma lgammaf      r>r    | math.lgamma(x)
isnand isnanf       r>i    | 1 if x != x else 0
isinfd isinff       r>i    | 1 if math.isinf(x) else 0
isfinited finitef   r>i    | 1 if math.isfinite(x) else 0
signbitd signbitf   r>i    | 1 if np.signbit(x) else 0
"""

_FAST = """
fast_sinf       f>f   | math.sin(x)
fast_cosf       f>f   | math.cos(x)
fast_tanf       f>f   | math.tan(x)
fast_sincosf    f>ff  | math.sin(x) ; math.cos(x)
fast_expf       f>f   | math.exp(x)
fast_exp10f     f>f   | math.pow(np.float32(10), x)
fast_logf       f>f   | math.log(x)
fast_log2f      f>f   | np.log2(x)
fast_log10f     f>f   | math.log10(x)
fast_powf       ff>f  | math.pow(x, y)
fast_fdividef   ff>f  | x / y
saturatef       f>f   | min(max(x, np.float32(0)), np.float32(1))
frsqrt_rn       f>f   | np.float32(1.0 / math.sqrt(np.float64(x)))
"""

_INTEGER = """
abs         i>i    | abs(x)
llabs       l>l    | abs(x)
min         ii>i   | min(x, y)
max         ii>i   | max(x, y)
llmin       ll>l   | min(x, y)
llmax       ll>l   | max(x, y)
umin        ii>i   | min(np.uint32(x), np.uint32(y))
umax        ii>i   | max(np.uint32(x), np.uint32(y))
ullmin      ll>l   | min(np.uint64(x), np.uint64(y))
ullmax      ll>l   | max(np.uint64(x), np.uint64(y))
popc        i>i    | cuda.popc(x)
popcll      l>i    | cuda.popc(x)
clz         i>i    | cuda.clz(x)
clzll       l>i    | cuda.clz(x)
ffs         i>i    | cuda.ffs(x)
ffsll       l>i    | cuda.ffs(x)
brev        i>i    | cuda.brev(x)
brevll      l>l    | cuda.brev(x)
mulhi       ii>i   | (np.int64(x) * np.int64(y)) >> 32
umulhi      ii>i   | (np.uint64(np.uint32(x)) * np.uint64(np.uint32(y))) >> np.uint64(32)
mul64hi     ll>l   | mul64hi(x, y)
umul64hi    ll>l   | umul64hi(np.uint64(x), np.uint64(y))
mul24       ii>i   | (np.int32(x << 8) >> 8) * (np.int32(y << 8) >> 8)
umul24      ii>i   | np.int64(x & 0xFFFFFF) * np.int64(y & 0xFFFFFF)
hadd        ii>i   | (np.int64(x) + np.int64(y)) >> 1
rhadd       ii>i   | (np.int64(x) + np.int64(y) + 1) >> 1
uhadd       ii>i   | (np.int64(np.uint32(x)) + np.int64(np.uint32(y))) >> 1
urhadd      ii>i   | (np.int64(np.uint32(x)) + np.int64(np.uint32(y)) + 1) >> 1
sad         iii>i  | abs(np.int64(x) - np.int64(y)) + z
usad        iii>i  | abs(np.int64(np.uint32(x)) - np.int64(np.uint32(y))) + z
byte_perm   iii>i  | byte_perm(x, y, z)
"""

_BITS = """
float_as_int        f>i   | x.view(np.int32)
int_as_float        i>f   | x.view(np.float32)
double_as_longlong  d>l   | x.view(np.int64)
longlong_as_double  l>d   | x.view(np.float64)
double2hiint        d>i   | x.view(np.int64) >> 32
double2loint        d>i   | x.view(np.int64)
hiloint2double      ii>d  | np.int64((np.int64(x) << 32) | np.int64(np.uint32(y))).view(np.float64)
int2double_rn       i>d   | x
uint2double_rn      i>d   | np.uint32(x)
"""

# Conversions to integers: the suffix gives the rounding; values out of range are clamped.
_ROUND = {"rn": "np.rint", "rd": "np.floor", "ru": "np.ceil", "rz": "np.trunc"}
_TO_INTEGER = """
float2int     f>i  | ROUND(x)
float2uint    f>i  | np.uint32(ROUND(x))
float2ll      f>l  | ROUND(x)
float2ull     f>l  | np.uint64(ROUND(x))
double2int    d>i  | ROUND(x)
double2uint   d>i  | np.uint32(ROUND(x))
double2ll     d>l  | ROUND(x)
double2ull    d>l  | np.uint64(ROUND(x))
"""

# Float results: `v ; rest` is the result in float64 and its rounding error.
_DIRECTED = """
double2float  d>f   | x ; 0.0
int2float     i>f   | np.float64(x) ; 0.0
uint2float    i>f   | np.float64(np.uint32(x)) ; 0.0
ll2float      l>f   | np.float64(x) ; ll_rest(x, np.float64(x))
ull2float     l>f   | np.float64(np.uint64(x)) ; ull_rest(x, np.float64(np.uint64(x)))
ll2double     l>d   | np.float64(x) ; ll_rest(x, np.float64(x))
ull2double    l>d   | np.float64(np.uint64(x)) ; ull_rest(x, np.float64(np.uint64(x)))
fadd          ff>f  | X + Y ; two_sum_rest(X, Y, X + Y)
fsub          ff>f  | X - Y ; two_sum_rest(X, -Y, X - Y)
fmul          ff>f  | X * Y ; 0.0
fdiv          ff>f  | X / Y ; quotient_rest(X, Y, X / Y)
frcp          f>f   | 1.0 / X ; quotient_rest(1.0, X, 1.0 / X)
fsqrt         f>f   | math.sqrt(X) ; cuda.fma(-math.sqrt(X), math.sqrt(X), X)
fmaf          fff>f | X * Y + Z ; two_sum_rest(X * Y, Z, X * Y + Z)
dadd          dd>d  | x + y ; two_sum_rest(x, y, x + y)
dmul          dd>d  | x * y ; cuda.fma(x, y, -(x * y))
ddiv          dd>d  | x / y ; quotient_rest(x, y, x / y)
drcp          d>d   | 1.0 / x ; quotient_rest(1.0, x, 1.0 / x)
dsqrt         d>d   | math.sqrt(x) ; cuda.fma(-math.sqrt(x), math.sqrt(x), x)
"""
_DIRECTION = {"rd": "down", "ru": "up", "rz": "zero"}

# Rounded to nearest these are computed in float32: rounding a float64 result would round twice.
_NEAREST = {
    "fadd": "x + y",
    "fsub": "x - y",
    "fmul": "x * y",
    "fdiv": "x / y",
    "frcp": "np.float32(1) / x",
    "fsqrt": "math.sqrt(x)",
    "ll2float": "np.float32(x)",
    "ull2float": "np.float32(np.uint64(x))",
}

_WHY_BESSEL = "Bessel functions are not implemented yet; compute them on the host with SciPy."
_WHY_HALF = "use np.float16 values and arrays, or cuda.fp16."
_WHY_FMA = "only fma_rn, which rounds to the nearest, is implemented."
MISSING = {
    **dict.fromkeys(
        ("j0", "j0f", "j1", "j1f", "jn", "jnf", "y0", "y0f", "y1", "y1f", "yn", "ynf"), _WHY_BESSEL
    ),
    **dict.fromkeys(("float2half_rn", "half2float"), _WHY_HALF),
    **dict.fromkeys(("fma_rd", "fma_ru", "fma_rz"), _WHY_FMA),
    **dict.fromkeys(("remquo", "remquof"), "use remainder, and divide for the quotient."),
}


def _split(table: str) -> list[tuple[list[str], str, str, str]]:
    """Return the rows of a table as names, argument types, result types, expression."""
    rows = []
    for line in table.strip().splitlines():
        head, _, text = line.partition("|")
        *names, types = head.split()
        takes, _, gives = types.partition(">")
        rows.append((names, takes, gives, text.strip()))
    return rows


def _plain() -> dict[str, Row]:
    rows = {}
    for names, takes, gives, text in _split(_REAL):
        for name, letter, kind in zip(names, "df", ("np.float64(", "np.float32("), strict=True):
            rows[name] = (
                takes.replace("r", letter),
                gives.replace("r", letter),
                text.replace("R(", kind),
            )
    for table in (_FAST, _INTEGER, _BITS):
        rows |= {names[0]: (takes, gives, text) for names, takes, gives, text in _split(table)}
    return rows


def _rounded() -> dict[str, Row]:
    rows = {}
    for (name,), takes, gives, text in _split(_TO_INTEGER):
        for ending, function in _ROUND.items():
            rows[f"{name}_{ending}"] = (takes, gives, text.replace("ROUND", function))
    for (name,), takes, gives, text in _split(_DIRECTED):
        for letter in "XYZ":
            text = text.replace(letter, f"np.float64({letter.lower()})")
        value, _, rest = text.partition(" ; ")
        for ending, direction in _DIRECTION.items():
            rows[f"{name}_{ending}"] = (takes, gives, f"{gives}_{direction}({value}, {rest})")
        if name != "fmaf":
            rows[f"{name}_rn"] = (takes, gives, _NEAREST.get(name, value))
    return rows


# Every function by name: its argument types, its result types, its expression.
ROWS: dict[str, Row] = {**_plain(), **_rounded()}
