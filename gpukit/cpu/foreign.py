"""`cuda.declare_device` without a GPU: device functions in CUDA C++ by the host's C++ compiler.

The source is passed as `link`, to `declare_device` or to the `cuda.jit` whose kernel calls it. Much
CUDA C++ written for `declare_device` is plain C++ after `__device__`. Where a
C++ compiler is installed it compiles that to a library that kernels call. Code that
needs a GPU's headers or registers is rejected with the compiler's own message.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple

from gpukit import errors

# The keywords of CUDA C++ that C++ lacks, and what they mean on a CPU.
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


_linked: ContextVar[tuple[Any, ...]] = ContextVar("_linked", default=())


class _Source(NamedTuple):
    """CUDA C++: its text, its name, and the folder in which its includes are searched."""

    text: str
    name: str
    folder: str = ""


class CUSource:
    """CUDA C++ source in memory, as text or UTF-8 bytes, for `link`."""

    def __init__(self, data: str | bytes, name: str = "<memory>", **_: Any) -> None:
        self.data, self.name = data, name


def declare_device(
    name: str, sig: Any, link: Any = None, use_cooperative: bool = False, abi: str = "numba"
) -> Any:
    """Return a function for use in kernels that is written in CUDA C++ and passed as `link`.

    `mul = cuda.declare_device("mul", "float32(float32, float32)", link="mul.cu")`. With Numba's
    convention the C++ function is `int mul(float *result, float x, float y)`, 0 for success;
    with `abi="c"` it is `float mul(float x, float y)`. `link` is a file, a `CUSource`, or a
    collection of them; without it the kernel's own `cuda.jit(link=...)` is used. Nothing checks
    the memory accesses of C++ code.
    """
    signature = _signature(sig)
    if use_cooperative:
        raise errors.TargetError(f"declare_device({name!r}): cooperative C++ needs an NVIDIA GPU.")
    declared = _function(name, signature, link, abi)
    declared.name, declared.sig = name, signature
    declared.links_with_kernel = link is None
    return declared


def _signature(sig: Any) -> Any:
    from numba.core.typing.templates import Signature

    from gpukit.compiler import numba_types

    args, result = numba_types.signature(sig)
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


@contextlib.contextmanager
def linking(kernel: Any) -> Iterator[None]:
    """Let the kernel that is compiled inside the `with` block call the functions in its `link`."""
    items = tuple(_links(kernel, []))
    for item in items:
        if isinstance(item, (str, os.PathLike)) and not Path(item).is_file():
            raise _no_file("cuda.jit(link=...)", item)
    token = _linked.set(items)
    try:
        yield
    finally:
        _linked.reset(token)


def _links(function: Any, seen: list[Any]) -> Iterator[Any]:
    """Yield the `link` options of a kernel and of the device functions that it calls."""
    from gpukit.compiler.frontend import resolve

    if any(function is s for s in seen):
        return
    seen.append(function)
    yield from _items(getattr(function, "targetoptions", {}).get("link"))
    for device in resolve.run(function.py_func, device=True).devices.values():
        yield from _links(device, seen)


def resolve(name: str, link: Any) -> str:
    """Compile the sources in `link` and return the symbol under which LLVM finds `name`.

    Without `link` they are those of the kernel that is being compiled.
    """
    import llvmlite.binding as llvm

    given = tuple(_items(link))
    sources = tuple(map(_source, given or filter(_is_text, _linked.get())))
    if not sources:
        raise _nothing_linked(name)
    library, digest = _library(sources, _search_path())
    symbol = f"gpukit_foreign_{digest}_{name}"
    try:
        llvm.add_symbol(symbol, ctypes.cast(getattr(library, name), ctypes.c_void_p).value)
    except AttributeError as error:
        files = ", ".join(source.name for source in sources)
        raise errors.TargetError(
            f'declare_device({name!r}): expected a function with that name in extern "C", '
            f"the sources ({files}) have none."
        ) from error
    return symbol


def _nothing_linked(name: str) -> errors.TargetError:
    """Return the error for a function without CUDA C++ source."""
    if _linked.get():
        return _made_for_gpu(f"declare_device({name!r})", _linked.get()[0])
    return errors.TargetError(
        f"declare_device({name!r}): expected link= with CUDA C++ source, got none. Pass the file "
        "to declare_device or to the kernel's cuda.jit(link=[...]), or write the function in "
        "Python with @cuda.jit(device=True)."
    )


def _items(link: Any) -> Iterable[Any]:
    if link is None:
        return ()
    return link if isinstance(link, (list, tuple, set, frozenset)) else (link,)


def _is_text(item: Any) -> bool:
    """Tell whether something to link is CUDA C++; anything else is code compiled for a GPU."""
    if isinstance(item, (str, os.PathLike)):
        return Path(item).suffix in _TEXTS
    return type(item).__name__ == "CUSource" and getattr(item, "data", None) is not None


def _source(item: Any) -> _Source:
    if not _is_text(item):
        raise _made_for_gpu("declare_device", item)
    if not isinstance(item, (str, os.PathLike)):
        text = item.data.decode() if isinstance(item.data, bytes) else str(item.data)
        return _Source(text, str(getattr(item, "name", None) or "<memory>"))
    path = Path(item)
    if not path.is_file():
        raise _no_file("declare_device", item)
    return _Source(path.read_text(encoding="utf-8"), str(path), str(path.parent))


def _made_for_gpu(who: str, item: Any) -> errors.TargetError:
    what = Path(item).name if isinstance(item, (str, os.PathLike)) else type(item).__name__
    return errors.TargetError(
        f"{who}: {what} contains code compiled for a GPU. On the CPU target only CUDA C++ source "
        "can be linked: pass that, write the function in Python with @cuda.jit(device=True), or "
        "run on a GPU (GPUKIT_TARGET=cuda)."
    )


def _no_file(who: str, item: Any) -> errors.TargetError:
    return errors.TargetError(
        f"{who}: expected a file to link, but {os.fspath(item)!r} does not exist (current folder: "
        f"{Path.cwd()}). Pass a path relative to that folder, or an absolute one."
    )


def _search_path() -> tuple[str, ...]:
    from numba.core import config

    return tuple(filter(None, getattr(config, "CUDA_NVRTC_EXTRA_SEARCH_PATHS", "").split(":")))


@functools.cache
def _library(sources: tuple[_Source, ...], search: tuple[str, ...]) -> tuple[ctypes.CDLL, str]:
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
    compiler: str, sources: Sequence[_Source], search: Sequence[str], folder: Path
) -> ctypes.CDLL:
    """Compile every source and load the library; the file may be deleted once it is loaded."""
    prelude = folder / "prelude.h"
    prelude.write_text(PRELUDE, encoding="utf-8")
    files = []
    for number, source in enumerate(sources):
        file = folder / f"source{number}.cpp"
        # The compiler's messages should name the file and the line that the user wrote.
        text = f"#line 1 {json.dumps(source.name)}\n{source.text}"
        file.write_text(text, encoding="utf-8")
        files.append(str(file))
    places = [f"-I{p}" for p in (*(source.folder for source in sources), *search) if p]
    library = folder / "foreign.so"
    options = ["-shared", "-fPIC", "-O2", "-w", "-include", str(prelude)]
    if sys.platform.startswith("linux"):  # a function calls its own `times`, not the C library's
        options.append("-Wl,-Bsymbolic")
    command = [compiler, *options, *places, *files, "-o", str(library)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise errors.TargetError(
            "declare_device: the C++ compiler of this machine cannot compile this CUDA C++. Write "
            "the function in Python, or use a GPU. It says:\n"
            + done.stderr.replace(f"{folder}{os.sep}", "").strip()[:2000]
        )
    return ctypes.CDLL(str(library))
