"""What of a submission is run, and what of it is refused."""

import ast
import contextlib
import ctypes
import io
import types

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpukit import cuda
from gpukit.classroom import allowed, rules
from gpukit.course import catalogue
from tests.exercises import answers

HEAD = "import numpy as np\nfrom gpukit import cuda\n"
KERNEL = """
@cuda.jit
def kernel(a, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] * S
"""
EXERCISES = catalogue.every()
EACH = pytest.mark.parametrize("exercise", EXERCISES, ids=[e.name for e in EXERCISES])

# A constant S that the kernel uses, by what it tries to reach.
FORBIDDEN = {
    "a module by another name": "n = np\nS = n.load('x')",
    "a module as a default": "def f(m=np):\n    return m\nS = f()",
    "a module as an argument": "S = (lambda m: m.load)(np)",
    "a module in a list": "S = [np]",
    "a module in an assignment expression": "S = [m := np]",
    "a module behind a module": "S = np.lib.npyio.os.getpid()",
    "files of NumPy": "S = np.fromfile('x')",
    "the driver": "S = cuda.driver",
    "the book's kernels": "from gpukit.kernels.activations import relu_kernel as S",
    "the book's functions": "import gpukit\nS = gpukit.relu",
    "the grader": "from gpukit.course import child as S",
    "another module": "import os\nS = os.getpid()",
    "a module of this folder": "from . import other as S",
    "all names of NumPy": "from numpy import *\nS = 1",
    "a class": "S = ().__class__",
    "a class in a format string": "S = f'{().__class__}'",
    "a class in a text to be formatted": "S = '{0.__class__}'.format(1)",
    "a class in a text with a name": "F = '{0.__class__}'\nS = F.format(1)",
    "a class in letters that Python normalises": "S = ().__\uff43lass__",
    "a class in a pattern": "match 1:\n    case int(__class__=c):\n        S = c",
    "a frame of a generator": "S = (x for x in [1]).gi_frame",
    "a traceback": "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    S = e.__traceback__",
    "raw memory": "S = np.zeros(3).ctypes",
    "the built-in functions": "S = __builtins__",
    "an import by a function": "S = __import__('os')",
    "an attribute by its name": "S = getattr(1, 'real')",
    "a program in a text": "S = eval('1')",
    "the type of a module": "S = type(np)",
    "a new type": "S = type('T', (), {})",
    "a metaclass": "class C(metaclass=type):\n    pass\nS = C",
    "a class made by a function": "class C(metaclass=lambda *parts: parts):\n    pass\nS = C",
    "NumPy's protocol": "class C:\n    def __array_function__(self, *a):\n        pass\nS = C()",
    "another encoding": None,
    "the built-in functions behind __future__": "import __future__ as f\nS = f.__builtins__",
    "a feature that __future__ lacks": "from __future__ import __loader__ as S",
    "NumPy behind the random numbers": "S = cuda.random.np.load('x')",
    "os behind the types": "S = cuda.types.functions.logging.os.getpid()",
    "the module of random numbers": "S = [cuda.random]",
    "the module of types": "from numba.cuda import types\nS = [types]",
    "the module of libdevice": "import numba.cuda.libdevice as m\nS = [m]",
    "a module that lacks a name": "try:\n    np.no\nexcept AttributeError as e:\n    S = e.obj",
    "the metaclass of numbers": "import numbers\nS = numbers.ABCMeta('C', (), {})",
    "the metaclass of types": "from numba.types import ABCMeta as S",
    "a metaclass by a type hint": "from typing import Type\nclass S(Type):\n    pass",
    "a class that == was given": "class T:\n    def __eq__(self, o): S\nS = type(1) == T()",
    "a class that == was given, by a class": (
        "@(lambda c: c())\nclass T:\n    def __eq__(self, o):\n        pass\nS = type(1) == T"
    ),
    "a class by a name of enum": "import enum\nS = enum.Enum('E', {'__array_interface__': 1})",
    "a class by another name of Enum": "from enum import Enum\nE = Enum\nS = E('E', {'__x__': 1})",
    "a class by an empty Enum": "from enum import Enum\nclass E(Enum):\n    pass\nS = E('E', {})",
    "a class by an Enum that ignores": (
        "from enum import Enum\nclass E(Enum):\n    _ignore_ = ['A']\n    A = 1\nS = E('E', {})"
    ),
    "pytest of linear algebra": "S = np.linalg.test()",
    "pytest of random numbers": "from numpy.random import test\nS = test()",
    "pytest of type hints": "import numpy.typing as t\nS = t.test()",
    "a function of C": "from numba import types\nS = types.ExternalFunction",
    "the built-in memoryview": "S = np.ScalarType[6]",
    "what wraps holds": "from functools import wraps\nS = wraps(np.exp).func",
    "any attribute by wraps": "from functools import wraps\nS = wraps(np.exp)(np.sin)",
    "wraps by a name of two": (
        "from functools import wraps as w\ndef g():\n    from math import e as w\nS = w(g)(np.exp)"
    ),
    "the object of another decorator": (
        "from functools import wraps\n@wraps(np.sin)\n@(lambda f: np.exp)\ndef S():\n    pass"
    ),
    "a class of others by dataclass": (
        "import numbers\nfrom dataclasses import dataclass\nS = dataclass(numbers.Real)"
    ),
    "another object's __init__": "def super(x):\n    return x\nS = super(np.exp).__init__()",
    "a class in a pattern's format": "match '{0.x}':\n    case str(format=f):\n        S = f(1)",
    "an object at an address": "S = np.ndarray((1,), object, bytearray(8))",
    "an object at an address, by a hint": "import numpy.typing as t\nS = t.NDArray[int]((1,), 'O')",
    "an object at an address, by a class": "class A(np.ndarray):\n    pass\nS = A((1,), 'O')",
    "an object at an address, by :=": "S = (A := np.ndarray)((1,), object, bytearray(8))",
    "an object at an address, by an attribute": "class C:\n    A = np.ndarray\nS = C.A((1,), 'O')",
    "an object at an address, by an operator": (
        "class T:\n    def __or__(self, o):\n        pass\nS = T()\nA: S | np.ndarray = S\nS = A"
    ),
    "memory that was given back": "A = np.ones(9)\nB = A[:]\nS = A.resize(99, refcheck=False) or B",
    "memory of the device": "S = cuda.to_device(np.ones(3)).device_ctypes_pointer",
    "functions of C behind random numbers": "S = np.random.default_rng().bit_generator.cffi",
    "code behind a function of Cython": "S = np.random.default_rng.func_code",
    "a text that typing evaluates": "import typing as t\nS = t.TypeVar('T').evaluate_bound(1)",
    "attributes in a copy's memo": "from copy import deepcopy\nM = {}\nS = deepcopy(np.exp, M)",
    "what launches a kernel": "@cuda.jit\ndef k():\n    pass\nS = k.launcher.compiled",
    "the options of a kernel": "@cuda.jit\ndef k():\n    pass\nk.targetoptions['x'] = 1\nS = k",
}


@pytest.mark.parametrize("what", FORBIDDEN)
def test_what_a_kernel_needs_may_not_reach_out_of_it(what):
    constant = FORBIDDEN[what]
    source = HEAD + (constant or "S = 1") + KERNEL
    source = source if constant else "# -*- coding: rot13 -*-\n" + source
    with pytest.raises(rules.RejectedError, match=r"^Line \d+: "):
        rules.kept(source, "kernel")


def test_a_forbidden_statement_that_nothing_needs_is_not_run():
    below = "import os\nos.remove('x')\nnp.exp = None\nif __name__ == '__main__':\n    import sys\n"
    kept = rules.kept(HEAD + "S = 2\n" + KERNEL + below, "kernel")
    assert "remove" not in kept
    assert "None" not in kept
    assert "import numpy" not in kept
    assert "S = 2" in kept


NEEDED = {
    "a sum": "A = 2\nS = A + 1",
    "statements on one line": "import os; A = 16; S = A // 2; os.getpid()",
    "an import behind another statement": "import os; import math; S = round(math.e)",
    "one of two imports": "from math import (\n    sin,  # unused\n    cos,\n)\nS = cos(0.0)",
    "a function": "def make(n):\n    def f():\n        return n\n    return f()\nS = make(3)",
    "a table that a loop fills": "T = [0] * 4\nfor i in range(4):\n    T[i] = i\nS = T[3]",
    "a table that a method fills": "T = []\nT.append(3)\nS = T[0]",
    "a class of constants": "class Config:\n    TILE = 3\nS = Config.TILE",
    "a name with a type": "S: int = 3",
    "a name bound by a branch": "if 1 < 2:\n    S = 3\nelse:\n    S = 4",
    "a second try": "S = 2\nS = 3",
    "a form feed": "\x0cS = 3",
    "an unpacked tuple": "R, S = 2, 3",
    "a number of NumPy": "S = np.float32(3)",
    "an array of NumPy": "S = np.array([x + 3 for x in range(1)], np.float32)[0]",
    "random numbers of CUDA": "S = cuda.random.xoroshiro128p_dtype.itemsize // 8",
    "random numbers by a path": "import gpukit.cuda.random as r\nS = 3 if r.splitmix64 else 0",
    "a function of libdevice": "from gpukit.cuda import libdevice\nS = 3 if libdevice.cosf else 0",
    "a type of CUDA": "S = cuda.types.float32.bitwidth // 16",
    "a type of Numba": "from numba import types\nS = types.float32.bitwidth // 16",
    "an enumeration": "from enum import Enum\nclass E(Enum):\n    A = 3\nS = E.A.value",
    "a data class": "import dataclasses as d\n@d.dataclass\nclass C:\n    a: int = 3\nS = C().a",
    "a copy": "from copy import deepcopy\nS = deepcopy([3])[0]",
    "a wrapped function": (
        "from functools import wraps\ndef d(f):\n    @wraps(f)\n    def g():\n        return f()\n"
        "    return g\n@d\ndef f():\n    return 3\nS = f()"
    ),
    "type hints": (
        "from numpy.typing import NDArray\nRow = NDArray[np.int8]\n"
        "def f(x: Row | np.ndarray | None) -> np.ndarray:\n    return x\nS = f(3)"
    ),
    "a type that is looked for": "S = 3 if isinstance(np.ones(1), (int, np.ndarray)) else 0",
    "types that are compared": "S = 3 if type(2) is int and type(2) == type(3) else 0",
}


@pytest.mark.parametrize("what", NEEDED)
def test_what_a_kernel_needs_is_kept(what):
    kept = rules.kept(HEAD + NEEDED[what] + KERNEL, "kernel")
    found = {}
    exec(compile(kept, "kept", "exec"), found)
    assert found["S"] in (2, 3, 8) or found["S"] == pytest.approx(1.0)
    assert "os" not in found


def test_a_future_import_is_kept_since_it_changes_what_python_evaluates():
    source = "from __future__ import annotations\nimport os\n" + HEAD + "S = 1\n" + KERNEL
    assert rules.kept(source, "kernel").startswith("from __future__ import annotations\n\n")


def test_each_kept_statement_stays_in_its_line():
    source = "import os\nimport math\n\nX = os.getpid()\nS = math.pi\n" + KERNEL
    kept = rules.kept("from gpukit import cuda\n" + source, "kernel").split("\n")
    assert kept[2] == "import math"
    assert kept[5] == "S = math.pi"
    assert kept[4] == ""
    assert kept[8].startswith("def kernel")


@EACH
def test_the_rules_allow_solutions_and_starters(exercise):
    for file in (exercise.solution, exercise.starter):
        kept = rules.kept(file.read_text(), exercise.entry, host=exercise.driver is not None)
        assert exercise.entry in kept


@EACH
def test_the_rules_allow_every_unusual_right_answer(exercise):
    for answer in answers.right(exercise):
        kept = rules.kept(answer.text, exercise.entry, host=exercise.driver is not None)
        compile(kept, answer.name, "exec")


def test_a_kernel_may_be_made_by_a_function():
    source = (
        HEAD + "def make(n):\n    @cuda.jit\n    def k(out):\n        out[0] = n\n    return k\n"
    )
    assert "return k" in rules.kept(source + "kernel = make(3)\n", "kernel")


def test_host_code_may_set_attributes_of_its_own_objects():
    source = (
        "class Value:\n    def __init__(self, x):\n        self._x = x\n        self.grad = 0.0\n"
    )
    assert "_x" in rules.kept(source, "Value", host=True)


def test_host_code_may_count_in_an_attribute_of_its_own_class():
    source = "class Value:\n    made = 0\n    def __init__(self):\n        type(self).made += 1\n"
    assert "type(self).made" in rules.kept(source, "Value", host=True)


def test_host_code_may_use_its_own_class_and_no_more_of_it():
    source = "class Value:\n    def twice(self):\n        return self.__class__{}()\n"
    assert "__class__()" in rules.kept(source.format(""), "Value", host=True)
    with pytest.raises(rules.RejectedError, match="attribute __subclasses__"):
        rules.kept(source.format(".__subclasses__"), "Value", host=True)


def test_host_code_may_not_replace_a_method_of_what_it_is_given():
    source = "def step(model):\n    model.forward = None\n"
    with pytest.raises(rules.RejectedError, match="may not replace forward"):
        rules.kept(source, "step", host=True)


@pytest.mark.parametrize(
    "body",
    [
        "import math as np\n    return np.load",
        "import math as m\n    import numpy as m\n    return m.load",
        "np.pi = 3",
        "def inner():\n        open = 1\n    return open('x')",
        "return wraps(f, assigned=('x',))(g)",
        "return partial(wraps, f)",
        "return Enum('E', {'__array_interface__': 1})",
        "return type(group)",
        "w = group.world\n    w.observer = None",
        "group.world.observer = None",
        "match group:\n        case Pair(x):\n            return x",
        "class C:\n        def new(self):\n            return type(self)(f)\n    return C.new(int)",
        "class C:\n        def new(self):\n            return type(self)(*f)\n    S = C.new(g)",
        "class C:\n        def __call__(self):\n            '{0.x}'.format.__call__()\n    S = C",
        "@dataclass\n    class C(f):\n        x: int = 3\n    S = C()",
        "import gpukit.nn as nn\n    nn.save('x', f, g)",
    ],
)
def test_host_code_has_no_way_around_the_rules(body):
    head = "import numpy as np\nfrom enum import Enum\nfrom functools import partial, wraps\n"
    head += "from dataclasses import dataclass\n"
    kept = f"{head}S = np.pi\ndef answer(group, f, g):\n    {body}\n    return S\n"
    with pytest.raises(rules.RejectedError):
        rules.kept(kept, "answer", host=True)


def test_all_names_of_math_do_not_bring_other_names_along():
    source = HEAD + "from math import *\nS = __import__('os').getpid() + pi\n" + KERNEL
    with pytest.raises(rules.RejectedError, match="__import__"):
        rules.kept(source, "kernel")
    assert "import *" in rules.kept(HEAD + "from math import *\nS = pi\n" + KERNEL, "kernel")


def test_host_code_may_not_look_into_private_attributes_of_what_it_is_given():
    with pytest.raises(rules.RejectedError, match="attribute _state"):
        rules.kept("def step(model):\n    return model._state\n", "step", host=True)


def offered(module):
    """Yield the names of a module that a submission may use, and their objects."""
    found = allowed._imported(module)
    for name in dir(found):
        if allowed.step(module, name, host=True) == "":
            yield f"{module}.{name}", getattr(found, name)


def public(path, value):
    """Yield what the attributes of an object hold that a submission may read, and its elements."""
    for name in dir(value):
        if not name.startswith("_") and name not in allowed.INTROSPECTIVE | allowed.INNER:
            with contextlib.suppress(Exception):  # some attributes compute, and may fail
                yield f"{path}.{name}", getattr(value, name)
    if isinstance(value, tuple | list | dict):
        elements = value.values() if isinstance(value, dict) else value
        yield from ((f"{path}[{k}]", element) for k, element in enumerate(elements))


INSIDE = (types.FrameType, types.CodeType, types.TracebackType, ctypes._SimpleCData, io.IOBase)
OF_THE_MACHINE = (
    "builtins ctypes importlib inspect io os pickle posix shutil subprocess sys".split()
)


def leads_out(value):
    """Tell whether a submission that has an object can leave the rules."""
    return allowed.is_hidden(value) or isinstance(value, INSIDE)


@pytest.mark.parametrize("module", [*allowed._MODULES, "gpukit.nn"])
def test_no_name_of_an_allowed_module_leads_out_of_the_rules(module):
    every = [*offered(module)]
    every += [inner for path, value in every for inner in public(path, value)]
    assert [path for path, value in every if leads_out(value)] == []


@pytest.mark.parametrize("module", sorted({*allowed._MODULES, "gpukit.nn"} - {"sys"}))
def test_no_name_of_an_allowed_module_is_a_function_of_the_machine(module):
    functions = types.FunctionType | types.BuiltinFunctionType
    of = {p: v.__module__ for p, v in offered(module) if isinstance(v, functions)}
    assert [path for path in of if of[path] in OF_THE_MACHINE] == []


@cuda.jit
def a_kernel(out):
    out[0] = 1


GIVEN = {
    "a kernel": lambda: a_kernel,
    "a launch": lambda: a_kernel[1, 1],
    "an array": lambda: np.zeros(3),
    "an array on the device": lambda: cuda.to_device(np.zeros(3)),
    "a stream": cuda.stream,
    "an event": cuda.event,
    "random numbers": np.random.default_rng,
    "a vectorized function": lambda: cuda.vectorize(["float32(float32)"])(lambda x: x),
}


@pytest.mark.parametrize("what", GIVEN)
def test_no_object_that_a_submission_makes_leads_out_of_the_rules(what):
    reached = [(what, GIVEN[what]())]
    for _ in range(3):
        reached += [inner for path, value in reached for inner in public(path, value)]
        reached = list({id(value): (path, value) for path, value in reached}.values())
    assert [path for path, value in reached if leads_out(value)] == []


def test_every_listed_name_of_cuda_exists():
    assert [n for n in allowed._CUDA if allowed.step("gpukit.cuda", n, host=False) is None] == []


FORBIDDEN_PIECES = st.sampled_from(
    [
        *("np", "cuda", "().__class__", "(lambda m: np)", "open", "getattr(1, 'real')", "np.load"),
        *("np.lib.npyio", "f.gi_frame", "T.__class__", "[np for x in T]", "f'{np}'", "{**vars()}"),
    ]
)
HARMLESS_PIECES = st.sampled_from(["1", "T", "f(2)", "np.pi", "(lambda m: m)(3)", "T[0]", "'np'"])


@given(
    FORBIDDEN_PIECES,
    st.lists(HARMLESS_PIECES, max_size=3),
    st.sampled_from(["f({})", "[{}]", "f(f({}))", "({},)", "f(x := ({},))", "f(*[{}])"]),
)
def test_a_forbidden_expression_is_refused_wherever_it_stands(forbidden, harmless, form):
    words = ", ".join([*harmless, forbidden])
    source = HEAD + f"T = [1]\ndef f(*m):\n    return m\nS = {form.format(words)}\n" + KERNEL
    with pytest.raises(rules.RejectedError):
        rules.kept(source, "kernel")


@given(st.text(alphabet="abS=()[]{}:;,.#'\"\\ \n\t\x0c@ndefimport*", max_size=60))
def test_any_text_is_kept_refused_or_no_python(text):
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return
    try:
        kept = rules.kept(text, "S")
    except rules.RejectedError:
        return
    compile(kept, "kept", "exec")
    assert kept.count("\n") == text.count("\n")
