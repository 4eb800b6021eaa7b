"""`cuda.declare_device` without a GPU: device functions in CUDA C++ by the host's C++ compiler.

Much CUDA C++ written for `declare_device` is plain C++ with `__device__` before it. Where a
C++ compiler is installed that is compiled, linked into a library and called from kernels. What
needs a GPU's headers or registers is refused with the compiler's own words.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from gpukit import errors

# What CUDA C++ says beyond C++ and what that means on a CPU.
PRELUDE = """\
#include <cmath>
#include <cstddef>
#include <cstdint>
#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__
#define __restrict__ __restrict
"""

COMPILERS = ("c++", "g++", "clang++")
_TEXTS = (".cu", ".cuh", ".c", ".cc", ".cpp")


class CUSource:
    """CUDA C++ source in memory, as text or UTF-8 bytes, for `link`."""

    def __init__(self, data: str | bytes, name: str = "<memory>", **_: Any) -> None:
        self.data, self.name = data, name


def declare_device(
    name: str, sig: Any, link: Any = None, use_cooperative: bool = False, abi: str = "numba"
) -> Any:
    """Return a function for use in kernels that is written in CUDA C++ and given by `link`.

    `mul = cuda.declare_device("mul", "float32(float32, float32)", link="mul.cu")`. With Numba's
    convention the C++ function is `int mul(float *result, float x, float y)`, 0 for success;
    with `abi="c"` it is `float mul(float x, float y)`. `link` is a file, a `CUSource`, or a
    collection of them. Nothing checks what C++ code does with memory.
    """
    signature = _signature(sig)
    if use_cooperative:
        raise errors.TargetError(f"declare_device({name!r}): cooperative C++ needs an NVIDIA GPU.")
    declared = _function(name, signature, link, abi)
    declared.name, declared.sig = name, signature
    return declared


def _signature(sig: Any) -> Any:
    from numba.core import sigutils
    from numba.core.typing.templates import Signature

    args, result = sigutils.normalize_signature(sig)
    if result is None:
        raise TypeError("Return type must be provided for device declarations")
    return Signature(result, args, None)


def _function(name: str, signature: Any, link: Any, abi: str) -> Any:
    """Return a Numba intrinsic that calls the C++ function; it is compiled on the first call."""
    from numba.extending import intrinsic

    names = ", ".join(f"a{i}" for i in range(len(signature.args)))
    space = {"typed": lambda: (signature, _Lowering(name, link, abi))}
    text = f"def {name}(typingctx{', ' if names else ''}{names}):\n    return typed()\n"
    exec(text, space)
    return intrinsic(space[name])


class _Lowering:
    """Emits the call of one C++ function."""

    def __init__(self, name: str, link: Any, abi: str) -> None:
        self.name, self.link, self.abi = name, link, abi

    def __call__(self, context: Any, builder: Any, sig: Any, args: Sequence[Any]) -> Any:
        from llvmlite import ir
        from numba.core import cgutils, types

        symbol = resolve(self.name, self.link)
        kinds = [context.get_value_type(t) for t in sig.args]
        void = sig.return_type == types.none
        result = ir.IntType(8) if void else context.get_value_type(sig.return_type)
        if self.abi == "c":
            kind = ir.FunctionType(ir.VoidType() if void else result, kinds)
            value = builder.call(cgutils.get_or_insert_function(builder.module, kind, symbol), args)
            return context.get_dummy_value() if void else value
        kind = ir.FunctionType(ir.IntType(32), [result.as_pointer(), *kinds])
        slot = cgutils.alloca_once(builder, result)
        function = cgutils.get_or_insert_function(builder.module, kind, symbol)
        builder.call(function, [slot, *args])
        return context.get_dummy_value() if void else builder.load(slot)


def resolve(name: str, link: Any) -> str:
    """Compile the sources in `link` and return the symbol under which LLVM finds `name`."""
    import llvmlite.binding as llvm

    sources = tuple(_source(item) for item in _items(link))
    if not sources:
        raise errors.TargetError(
            f"declare_device({name!r}): expected link= with CUDA C++ source, got none. Give the "
            "file, or write the function in Python with @cuda.jit(device=True)."
        )
    library, digest = _library(sources, _search_path())
    symbol = f"gpukit_foreign_{digest}_{name}"
    try:
        llvm.add_symbol(symbol, ctypes.cast(getattr(library, name), ctypes.c_void_p).value)
    except AttributeError as error:
        raise errors.TargetError(
            f'declare_device({name!r}): expected a function of that name in extern "C", '
            "the sources have none."
        ) from error
    return symbol


def _items(link: Any) -> Iterable[Any]:
    if link is None:
        return ()
    return link if isinstance(link, (list, tuple, set, frozenset)) else (link,)


def _source(item: Any) -> tuple[str, str]:
    """Return the text of a source and the folder to look in for what it includes."""
    if not isinstance(item, (str, os.PathLike)):
        data = getattr(item, "data", None)
        if type(item).__name__ != "CUSource" or data is None:
            raise errors.TargetError(
                f"declare_device: {type(item).__name__} holds code made for a GPU. On the CPU "
                "target only CUDA C++ source can be linked."
            )
        return data.decode() if isinstance(data, bytes) else str(data), ""
    path = Path(item)
    if path.suffix not in _TEXTS:
        raise errors.TargetError(
            f"declare_device: {path.name} holds code made for a GPU. On the CPU target only CUDA "
            "C++ source can be linked."
        )
    return path.read_text(encoding="utf-8"), str(path.parent)


def _search_path() -> tuple[str, ...]:
    from numba.core import config

    return tuple(filter(None, getattr(config, "CUDA_NVRTC_EXTRA_SEARCH_PATHS", "").split(":")))


@functools.cache
def _library(
    sources: tuple[tuple[str, str], ...], search: tuple[str, ...]
) -> tuple[ctypes.CDLL, str]:
    digest = hashlib.sha256(repr((sources, search)).encode()).hexdigest()[:16]
    compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
    if compiler is None:
        raise errors.TargetError(
            "declare_device: CUDA C++ without a GPU needs a C++ compiler such as g++, and none was "
            "found. Write the function in Python with @cuda.jit(device=True), or install one."
        )
    with tempfile.TemporaryDirectory(prefix="gpukit-") as folder:
        return _build(compiler, sources, search, Path(folder)), digest


def _build(
    compiler: str, sources: Sequence[tuple[str, str]], search: Sequence[str], folder: Path
) -> ctypes.CDLL:
    """Compile every source and load the library; the file may go once it is loaded."""
    prelude = folder / "prelude.h"
    prelude.write_text(PRELUDE, encoding="utf-8")
    files = []
    for number, (text, _) in enumerate(sources):
        file = folder / f"source{number}.cpp"
        file.write_text(text, encoding="utf-8")
        files.append(str(file))
    places = [f"-I{p}" for p in (*(place for _, place in sources), *search) if p]
    library = folder / "foreign.so"
    options = ["-shared", "-fPIC", "-O2", "-w", "-include", str(prelude)]
    command = [compiler, *options, *places, *files, "-o", str(library)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise errors.TargetError(
            "declare_device: the C++ compiler of this machine cannot compile this CUDA C++. Write "
            "the function in Python, or use a GPU. It says:\n"
            + done.stderr.replace(f"{folder}{os.sep}", "").strip()[:2000]
        )
    return ctypes.CDLL(str(library))
