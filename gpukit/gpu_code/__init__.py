"""Compile kernels to PTX and SASS with NVIDIA's compilers, without a GPU.

The compilers come as Python packages (the extras `cuda12` and `cuda13`) and need neither GPU nor
driver: NVVM compiles the kernel to PTX, nvJitLink to machine code (SASS) and reports the registers
used, nvdisasm disassembles the machine code. At a launch numba-cuda takes another path: NVVM
compiles to LTO-IR, which nvJitLink optimises again. `(9, 0, LTO)` in place of `(9, 0)` selects it.

This runs in a separate process (`child.py`), to which `request.py` passes the kernel as plain data;
`sass.py` parses the text.

The results depend on the compute capability and on the compilers' version, so show `Code.tool` with
them.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from gpukit import status, target
from gpukit.gpu_code.request import describe

CHILD = Path(__file__).with_name("child.py")
_INSTALL = f"on Linux or Windows, {target.INSTALL}"
NO_DISASSEMBLER = f"nvdisasm is not installed; {_INSTALL}"
# The compilers take about ten seconds to load, then about one per kernel and capability.
_SECONDS = 300
_SECONDS_A_KERNEL = 30

# A compute capability; (9, 0, LTO) is linked as at a launch instead of from PTX; (9, 0, UNLISTED)
# is not disassembled, which would take as long as the rest.
LTO, UNLISTED = "lto", "unlisted"
Capability = tuple[int, int] | tuple[int, int, str]
Asked = TypeVar("Asked", bound=Capability)


@dataclass(frozen=True)
class Code:
    """A kernel compiled for one compute capability; if it failed, `reason`, and the rest is empty.

    `registers` is the number per thread (Nsight Compute: `launch__registers_per_thread`), `spilled`
    the bytes spilled per thread, `stack` the local memory per thread, `shared` the static shared
    memory per block, all in bytes; compiled from PTX for compute capability 9.0 `shared` includes
    1 KB reserved by the system. `ptx` is empty for LTO, `sass` for UNLISTED and where nvdisasm is
    not installed. Both texts contain the source lines.
    """

    registers: int | None
    reason: str = ""
    spilled: int = 0
    stack: int = 0
    shared: int = 0
    tool: str = ""
    ptx: str = ""
    sass: str = ""


def missing() -> str:
    """Return why there is no GPU compiler; an empty string if there is one."""
    if importlib.util.find_spec("numba_cuda") is None:
        return f"the GPU compiler is not installed; {_INSTALL}"
    return ""


def build(
    kernel: Any, arguments: Sequence[Any], capabilities: Sequence[Asked]
) -> dict[Asked, Code]:
    """Return the code of `kernel`, launched with these arguments, for each compute capability.

    Takes some seconds for a new kernel; results are cached.
    """
    reason = missing()
    if not reason:
        try:
            request = describe(kernel, arguments, capabilities)
        except Exception as error:
            reason = _not_described(error)
    if reason:
        return _all(capabilities, reason)
    try:
        return dict(zip(capabilities, _remembered(request), strict=True))
    except _Failed as failure:
        return _all(capabilities, str(failure))


def build_many(
    launches: Sequence[tuple[Any, Sequence[Any]]], capabilities: Sequence[Asked]
) -> list[dict[Asked, Code]]:
    """Return the result of `build` for each kernel and its arguments; one process compiles all."""
    reason = missing()
    if reason:
        return [_all(capabilities, reason) for _ in launches]
    requests, refused = [], {}
    for number, (kernel, arguments) in enumerate(launches):
        try:
            requests.append(describe(kernel, arguments, capabilities))
        except Exception as error:
            refused[number] = _all(capabilities, _not_described(error))
    try:
        answers = iter(_ask(requests))
    except _Failed as failure:
        return [refused.get(n) or _all(capabilities, str(failure)) for n in range(len(launches))]
    return [
        refused.get(n) or dict(zip(capabilities, next(answers), strict=True))
        for n in range(len(launches))
    ]


def _all(capabilities: Sequence[Asked], reason: str) -> dict[Asked, Code]:
    return {capability: Code(None, reason) for capability in capabilities}


def _not_described(error: Exception) -> str:
    return f"the kernel could not be passed to the GPU compiler: {error}"


class _Failed(Exception):
    """The compiler gave no answer; never cached, so that the next call tries again."""


@functools.lru_cache(maxsize=64)
def _remembered(request: bytes) -> tuple[Code, ...]:
    return _ask([request])[0]


def _ask(requests: Sequence[bytes]) -> list[tuple[Code, ...]]:
    """Pass kernels to the child process; return its answers, one for each compute capability."""
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_ENABLE_CUDASIM"}
    environment["GPUKIT_STANDIN"] = "0"
    seconds = _SECONDS + _SECONDS_A_KERNEL * len(requests)
    try:
        with status.doing("compiling for GPUs with NVIDIA's compilers"):
            done = subprocess.run(
                [sys.executable, str(CHILD)],
                input=pickle.dumps(list(requests)),
                env=environment,
                capture_output=True,
                timeout=seconds,
                check=False,
            )
    except subprocess.TimeoutExpired:
        raise _Failed(f"the GPU compiler took more than {seconds} seconds") from None
    lines = done.stdout.decode(errors="replace").splitlines()
    if done.returncode or not lines:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        why = said[-1] if said else f"it ended with code {done.returncode}"
        raise _Failed(f"the GPU compiler failed: {why}")
    return [tuple(Code(**code) for code in codes) for codes in json.loads(lines[-1])]
