"""Rows of the table in `special_values`: functions of `math`, NumPy and libdevice."""

from __future__ import annotations

import math
import operator

from tests.compiler import special_rules
from tests.compiler.special_rules import (
    Row,
    ignoring,
    propagating,
    short_power,
    times_power,
    whole_power,
)

# --- Rows: functions --------------------------------------------------------------------------

# Function, then argument>result, with two arguments (a,b)>result: the special values in the CUDA
# Math API and the C standard (C99, annex F.9), and results that are exact.
_ONE = """
exp       nan>nan inf>inf -inf>0 0>1 -0>1
exp2      nan>nan inf>inf -inf>0 0>1 -0>1 3>8 -1>0.5
exp10     nan>nan inf>inf -inf>0 0>1 -0>1
expm1     nan>nan inf>inf -inf>-1 0>0 -0>-0
log       nan>nan inf>inf -inf>nan -1>nan 0>-inf -0>-inf 1>0
log2      nan>nan inf>inf -inf>nan -1>nan 0>-inf -0>-inf 1>0 2>1 0.5>-1
log10     nan>nan inf>inf -inf>nan -1>nan 0>-inf -0>-inf 1>0
log1p     nan>nan inf>inf -inf>nan -2>nan -1>-inf 0>0 -0>-0
sin       nan>nan inf>nan -inf>nan 0>0 -0>-0
cos       nan>nan inf>nan -inf>nan 0>1 -0>1
tan       nan>nan inf>nan -inf>nan 0>0 -0>-0
asin      nan>nan inf>nan -inf>nan 2>nan -2>nan 0>0 -0>-0 1>pi/2 -1>-pi/2
acos      nan>nan inf>nan -inf>nan 2>nan -2>nan 1>0 -1>pi 0>pi/2 -0>pi/2
atan      nan>nan 0>0 -0>-0 inf>pi/2 -inf>-pi/2 1>pi/4
sinh      nan>nan inf>inf -inf>-inf 0>0 -0>-0
cosh      nan>nan inf>inf -inf>inf 0>1 -0>1
tanh      nan>nan inf>1 -inf>-1 0>0 -0>-0
asinh     nan>nan inf>inf -inf>-inf 0>0 -0>-0
acosh     nan>nan inf>inf -inf>nan 0.5>nan -1>nan 1>0
atanh     nan>nan inf>nan -inf>nan 2>nan -2>nan 1>inf -1>-inf 0>0 -0>-0
sqrt      nan>nan inf>inf -inf>nan -1>nan 0>0 -0>-0 1>1
cbrt      nan>nan inf>inf -inf>-inf 0>0 -0>-0
rsqrt     nan>nan inf>0 -inf>nan -1>nan 0>inf -0>-inf 1>1
rcbrt     nan>nan inf>0 -inf>-0 0>inf -0>-inf
erf       nan>nan inf>1 -inf>-1 0>0 -0>-0
erfc      nan>nan inf>0 -inf>2 0>1
erfinv    nan>nan 0>0 -0>-0 1>inf -1>-inf 2>nan -2>nan
erfcinv   nan>nan 0>inf -0>inf 2>-inf 3>nan -1>nan
erfcx     nan>nan inf>0 -inf>inf
normcdf   nan>nan inf>1 -inf>0
normcdfinv nan>nan 0>-inf -0>-inf 1>inf 2>nan -1>nan
tgamma    nan>nan inf>inf -inf>nan 0>inf -0>-inf -1>nan -2>nan
lgamma    nan>nan inf>inf -inf>inf 0>inf -0>inf -1>inf -2>inf
sinpi     nan>nan inf>nan -inf>nan 0>0 -0>-0
cospi     nan>nan inf>nan -inf>nan 0>1 -0>1
ceil      nan>nan inf>inf -inf>-inf 0>0 -0>-0 -0.5>-0 2.5>3 -2.5>-2
floor     nan>nan inf>inf -inf>-inf 0>0 -0>-0 0.5>0 2.5>2 -2.5>-3
trunc     nan>nan inf>inf -inf>-inf 0>0 -0>-0 -0.5>-0 0.5>0 2.5>2 -2.5>-2
rint      nan>nan inf>inf -inf>-inf 0>0 -0>-0 -0.5>-0 0.5>0 2.5>2 -2.5>-2
nearbyint nan>nan inf>inf -inf>-inf 0>0 -0>-0 -0.5>-0 0.5>0 2.5>2 -2.5>-2
round     nan>nan inf>inf -inf>-inf 0>0 -0>-0 0.5>1 -0.5>-1 2.5>3 -2.5>-3
fabs      nan>nan inf>inf -inf>inf 0>0 -0>0
logb      nan>nan inf>inf -inf>inf 0>-inf -0>-inf 1>0 0.5>-1 3>1
"""
_TWO = """
fmax      (nan,1)>1 (1,nan)>1 (nan,nan)>nan (0,-0)>0 (-0,0)>0 (-0,-0)>-0 (-inf,nan)>-inf
fmin      (nan,1)>1 (1,nan)>1 (nan,nan)>nan (0,-0)>-0 (-0,0)>-0 (0,0)>0 (inf,nan)>inf
fdim      (nan,1)>nan (1,nan)>nan (inf,inf)>0 (3,1)>2 (1,3)>0 (inf,1)>inf
fmod      (nan,1)>nan (1,nan)>nan (inf,1)>nan (1,0)>nan (1,inf)>1 (-0,1)>-0 (0,1)>0 (-3,2)>-1
remainder (nan,1)>nan (1,nan)>nan (inf,1)>nan (1,0)>nan (1,inf)>1 (-0,1)>-0 (0,1)>0 (3,2)>-1
hypot     (inf,nan)>inf (nan,inf)>inf (-inf,1)>inf (1,nan)>nan (0,-0)>0 (nan,-inf)>inf (nan,1)>nan
atan2     (nan,1)>nan (1,nan)>nan (0,1)>0 (-0,1)>-0 (0,-1)>pi (-0,-1)>-pi (0,0)>0 (-0,0)>-0
atan2     (0,-0)>pi (-0,-0)>-pi (1,0)>pi/2 (-1,-0)>-pi/2 (0,inf)>0 (-0,inf)>-0 (1,inf)>0 (-1,inf)>-0
atan2     (1,-inf)>pi (-1,-inf)>-pi (inf,1)>pi/2 (-inf,1)>-pi/2 (inf,inf)>pi/4 (-inf,inf)>-pi/4
atan2     (inf,-inf)>3pi/4 (-inf,-inf)>-3pi/4
copysign  (1,-0)>-1 (inf,-1)>-inf (-0,1)>0
nextafter (nan,1)>nan (1,nan)>nan (0,-0)>-0 (-0,0)>0 (1,1)>1 (inf,inf)>inf
pow       (nan,0)>1 (1,nan)>1 (nan,1)>nan (2,nan)>nan (-1,inf)>1 (-1,-inf)>1 (0,-1)>inf (-0,-1)>-inf
pow       (0,-2)>inf (-0,-2)>inf (0,3)>0 (-0,3)>-0 (0,2)>0 (-0,2)>0 (0.5,inf)>0 (2,inf)>inf
pow       (0.5,-inf)>inf (2,-inf)>0 (-inf,3)>-inf (-inf,2)>inf (-inf,-1)>-0 (inf,-1)>0 (-2,0.5)>nan
pow       (-2,3)>-8 (0,-inf)>inf (-0,-inf)>inf (0,0)>1 (inf,0)>1 (0,-3)>inf (-0,-3)>-inf (-0,-2)>inf
pow       (0,-0.5)>inf (-0,-0.5)>inf (-0,0.5)>0 (1,inf)>1 (nan,-0)>1 (-1,0.5)>nan (-0.5,-inf)>inf
pow       (-2,inf)>inf (-inf,-3)>-0 (-inf,-2)>0 (-inf,-0.5)>0 (-inf,0.5)>inf (inf,1)>inf
pow       (-2,-2)>0.25 (-1,nan)>nan
"""
_IN_MATH = """
exp expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sqrt erf
erfc lgamma fabs ceil floor trunc fmod remainder hypot atan2 copysign nextafter pow
"""


def _functions() -> list[Row]:
    rows = []
    for count, table in ((1, _ONE), (2, _TWO)):
        known: dict[str, dict[tuple[str, ...], float]] = {}
        for line in table.strip().splitlines():
            name, *pairs = line.split()
            known.setdefault(name, {}).update(map(_pair, pairs))
        rows += [row for name in known for row in _spellings(name, count, known[name])]
    return rows


def _pair(text: str) -> tuple[tuple[str, ...], float]:
    arguments, result = text.split(">")
    return tuple(_key(float(v)) for v in arguments.strip("()").split(",")), _value(result)


def _value(text: str) -> float:
    """Return a number, or a fraction of pi such as `-3pi/4`."""
    if "pi" not in text:
        return float(text)
    times, _, parts = text.partition("pi")
    return {"": 1, "-": -1, "3": 3, "-3": -3}[times] * math.pi / int(parts.strip("/") or 1)


def _key(value: float) -> str:
    return repr(float(value))


def _spellings(name: str, count: int, known: dict[tuple[str, ...], float]) -> list[Row]:
    arguments = ", ".join("xyz"[:count])
    source = f"CUDA Math API {name}"

    def rule(*values: float) -> float | None:
        return known.get(tuple(_key(v) for v in values))

    rows = []
    for kind, ending in (("f4", "f"), ("f8", "")):
        spelled = [f"cuda.libdevice.{name}{ending}({arguments})"]
        if name in _IN_MATH.split():
            spelled.append(f"math.{name}({arguments})")
        if name == "tgamma":
            spelled.append("math.gamma(x)")
        if name == "pow":
            spelled.append("x ** y")
        if name == "cbrt":
            spelled.append("cuda.cbrt(x)")
        rows += [Row(text, (kind,) * count, kind, rule, source) for text in spelled]
    return rows


# --- Rows: libdevice and math with several types ----------------------------------------------

_LIBDEVICE = """
abs i4>i4         | wraps("i4", abs)
llabs i8>i8       | wraps("i8", abs)
min i4,i4>i4      | min
max i4,i4>i4      | max
llmin i8,i8>i8    | min
llmax i8,i8>i8    | max
umin i4,i4>i4     | on_bits(min)
umax i4,i4>i4     | on_bits(max)
ullmin i8,i8>i8   | on_bits(min)
ullmax i8,i8>i8   | on_bits(max)
mulhi i4,i4>i4    | lambda x, y: int(x) * int(y) >> 32
umulhi i4,i4>i4   | on_bits(lambda x, y: x * y >> 32)
mul64hi i8,i8>i8  | lambda x, y: int(x) * int(y) >> 64
umul64hi i8,i8>i8 | on_bits(lambda x, y: x * y >> 64)
hadd i4,i4>i4     | lambda x, y: int(x) + int(y) >> 1
rhadd i4,i4>i4    | lambda x, y: int(x) + int(y) + 1 >> 1
uhadd i4,i4>i4    | on_bits(lambda x, y: x + y >> 1)
urhadd i4,i4>i4   | on_bits(lambda x, y: x + y + 1 >> 1)
sad i4,i4,i4>i4   | wraps("i4", lambda x, y, z: abs(x - y) + z)
usad i4,i4,i4>i4  | on_bits(lambda x, y, z: abs(x - y) + z)
popc i4>i4        | ones("i4")
popcll i8>i4      | ones("i8")
clz i4>i4         | leading_zeros("i4")
clzll i8>i4       | leading_zeros("i8")
ffs i4>i4         | lowest_one
ffsll i8>i4       | lowest_one
brev i4>i4        | wraps("i4", reversed_bits("i4"))
brevll i8>i8      | wraps("i8", reversed_bits("i8"))
float2int_rz f4>i4    | cut("i4", False)
float2int_rn f4>i4    | after(np.rint, cut("i4", False))
float2int_rd f4>i4    | after(np.floor, cut("i4", False))
float2int_ru f4>i4    | after(np.ceil, cut("i4", False))
float2uint_rz f4>i4   | after(cut("u4", False), wraps("i4", int))
float2ll_rz f4>i8     | cut("i8", False)
float2ull_rz f4>i8    | after(cut("u8", False), wraps("i8", int))
double2int_rz f8>i4   | cut("i4", True)
double2int_rn f8>i4   | after(np.rint, cut("i4", True))
double2uint_rz f8>i4  | after(cut("u4", True), wraps("i4", int))
double2uint_ru f8>i4  | after(np.ceil, after(cut("u4", True), wraps("i4", int)))
double2ll_rz f8>i8    | cut("i8", True)
double2ull_rz f8>i8   | after(cut("u8", True), wraps("i8", int))
llrint f8>i8          | rounded
llrintf f4>i8         | rounded
llround f8>i8         | after(away, cut("i8", True))
llroundf f4>i8        | after(away, cut("i8", False))
isnand f8>b1          | math.isnan
isnanf f4>b1          | math.isnan
isinfd f8>b1          | math.isinf
isinff f4>b1          | math.isinf
isfinited f8>b1       | math.isfinite
finitef f4>b1         | math.isfinite
signbitd f8>b1        | np.signbit
signbitf f4>b1        | np.signbit
saturatef f4>f4       | saturated
ilogb f8>i4           | exponent
ilogbf f4>i4          | exponent
float_as_int f4>i4    | lambda x: None if math.isnan(x) else x.view(np.int32)
double_as_longlong f8>i8 | lambda x: None if math.isnan(x) else x.view(np.int64)
ldexp f8,i4>f8        | times_power
ldexpf f4,i4>f4       | times_power
scalbn f8,i4>f8       | times_power
scalbnf f4,i4>f4      | times_power
powi f8,i4>f8         | whole_power
powif f4,i4>f4        | whole_power
"""
_PARTS = """
math.frexp(x)[0]  | fraction
math.frexp(x)[1]  | exponent_of_fraction
math.modf(x)[0]   | fractional_part
math.modf(x)[1]   | np.trunc
cuda.libdevice.modf{f}(x)[0] | fractional_part
cuda.libdevice.modf{f}(x)[1] | np.trunc
cuda.libdevice.frexp{f}(x)[0] | fraction
cuda.libdevice.frexp{f}(x)[1] | exponent_of_fraction
math.isnan(x)     | math.isnan
math.isinf(x)     | math.isinf
math.isfinite(x)  | math.isfinite
np.isnan(x)       | math.isnan
np.isinf(x)       | math.isinf
np.isfinite(x)    | math.isfinite
"""


def _several_types() -> list[Row]:
    rows = []
    for line in _LIBDEVICE.strip().splitlines():
        head, _, rule = line.partition("|")
        name, _, kinds = head.strip().partition(" ")
        takes, _, gives = kinds.strip().partition(">")
        kinds_ = tuple(takes.split(","))
        text = f"cuda.libdevice.{name}({', '.join('xyz'[: len(kinds_)])})"
        rows.append(
            Row(text, kinds_, gives, eval(rule, vars(special_rules)), f"CUDA Math API {name}")
        )
    for line in _PARTS.strip().splitlines():
        text, _, rule = (part.strip() for part in line.partition("|"))
        for kind, ending in (("f4", "f"), ("f8", "")):
            gives = "b1" if "is" in text else "i4" if text.endswith("frexp(x)[1]") else kind
            spelled = text.replace("{f}", ending)
            if spelled.endswith(("frexpf(x)[1]",)):
                gives = "i4"
            rows.append(
                Row(spelled, (kind,), gives, eval(rule, vars(special_rules)), "CUDA Math API")
            )
    for kind in ("f4", "f8"):
        rows += [
            Row("math.ldexp(x, y)", (kind, "i4"), kind, times_power, "CUDA Math API ldexp"),
            Row("math.pow(x, y)", (kind, "i4"), kind, whole_power, "CUDA Math API powi"),
            # Negating an exponent of -2**31 would overflow.
            Row("x ** max(y, -7)", (kind, "i4"), kind, short_power, "numba-cuda multiplies"),
            Row(
                "np.maximum(x, y)",
                (kind, kind),
                kind,
                propagating(operator.ge),
                "numba-cuda's npyfuncs",
            ),
            Row(
                "np.minimum(x, y)",
                (kind, kind),
                kind,
                propagating(operator.le),
                "numba-cuda's npyfuncs",
            ),
            Row(
                "np.fmax(x, y)", (kind, kind), kind, ignoring(operator.ge), "numba-cuda's npyfuncs"
            ),
            Row(
                "np.fmin(x, y)", (kind, kind), kind, ignoring(operator.le), "numba-cuda's npyfuncs"
            ),
        ]
    return rows


def rows() -> list[Row]:
    return [*_functions(), *_several_types()]
