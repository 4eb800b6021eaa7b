"""The process behind `registers.py`: compiles one kernel with the real numba-cuda.

Run as a script: a pickled request on its input, a JSON list with an answer for each compute
capability as the last line of its output. It does not import gpukit.
"""

from __future__ import annotations

import importlib
import json
import marshal
import operator
import pickle
import re
import sys
from importlib.metadata import version
from pathlib import Path
from types import CellType, FunctionType, SimpleNamespace
from typing import Any


def main() -> None:
    """Answer the request on the standard input."""
    request = pickle.loads(sys.stdin.buffer.read())
    answers = [_answer(request, tuple(c)) for c in request["capabilities"]]
    sys.stdout.write("\n" + json.dumps(answers) + "\n")


def _answer(request: dict[str, Any], capability: tuple[int, int]) -> dict[str, Any]:
    try:
        return _compile(request, capability)
    except Exception as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        said = " ".join(lines[:3]) or "no message"
        return {"count": None, "reason": f"the GPU compiler refused: {said}"}


def _compile(request: dict[str, Any], capability: tuple[int, int]) -> dict[str, Any]:
    from numba import cuda
    from numba.cuda import dispatcher

    # Numba asks the current device for its capability here and there; there may be no device.
    device = SimpleNamespace(compute_capability=capability)
    dispatcher.get_current_device = lambda: device
    options = dict(request["options"])
    most = options.pop("max_registers", None)
    kernel = _Built(cuda, request["functions"]).function(0)
    ptx, _ = cuda.compile_ptx(kernel, request["types"], cc=capability, **options)
    log, linker = _link(ptx, capability, most)
    return {**_read(log), "tool": f"numba-cuda {version('numba-cuda')}, nvJitLink {linker}"}


class _Built:
    """The functions of a request put together again, with the real `cuda` in their globals."""

    def __init__(self, cuda: Any, described: list[dict[str, Any]]) -> None:
        self.cuda = cuda
        self.described = described
        self.functions: dict[int, FunctionType] = {}
        self.devices: dict[int, Any] = {}

    def function(self, number: int) -> FunctionType:
        """Return a function; it is entered before its globals are, for it may call itself."""
        if number not in self.functions:
            made = self.described[number]
            scope: dict[str, Any] = {"__name__": "kernel", "__builtins__": __builtins__}
            cells = tuple(CellType() for _ in made["closure"])
            code = marshal.loads(made["code"])
            built = FunctionType(code, scope, made["name"], closure=cells or None)
            self.functions[number] = built
            for cell, value in zip(cells, made["closure"], strict=True):
                cell.cell_contents = self.value(value)
            built.__defaults__ = tuple(self.value(v) for v in made["defaults"]) or None
            scope.update({name: self.value(value) for name, value in made["globals"].items()})
        return self.functions[number]

    def value(self, described: tuple[str, Any] | None) -> Any:
        """Return what a name stands for."""
        if described is None:
            return None
        kind, value = described
        if kind == "cuda":
            return operator.attrgetter(value)(self.cuda)
        if kind == "module":
            return importlib.import_module(value)
        if kind == "function":
            if value not in self.devices:
                self.devices[value] = self.cuda.jit(device=True)(self.function(value))
            return self.devices[value]
        return pickle.loads(value)


def _link(ptx: str, capability: tuple[int, int], most: int | None) -> tuple[str, str]:
    """Make machine code of PTX; return what the linker said, and its version."""
    nvjitlink = importlib.import_module("cuda.bindings.nvjitlink")
    options = ["-arch=sm_{}{}".format(*capability), "-verbose", "-Xptxas=-v"]
    if most is not None:
        options.append(f"-maxrregcount={most}")
    handle = nvjitlink.create(len(options), options)
    try:
        data = ptx.encode() + b"\0"
        nvjitlink.add_data(handle, nvjitlink.InputType.PTX, data, len(data), "kernel.ptx")
        if "cudaCG" in ptx:  # grid.sync() calls into the device runtime
            nvjitlink.add_file(handle, nvjitlink.InputType.LIBRARY, _device_runtime())
        try:
            nvjitlink.complete(handle)
        except Exception as error:
            said = bytearray(nvjitlink.get_error_log_size(handle))
            nvjitlink.get_error_log(handle, said)
            raise RuntimeError(said.decode(errors="replace").strip("\0 \n")) from error
        log = bytearray(nvjitlink.get_info_log_size(handle))
        nvjitlink.get_info_log(handle, log)
    finally:
        nvjitlink.destroy(handle)
    return log.decode(errors="replace"), "{}.{}".format(*nvjitlink.version())


def _device_runtime() -> str:
    for folder in filter(None, sys.path):
        for name in ("libcudadevrt.a", "cudadevrt.lib"):
            for found in sorted(Path(folder).glob(f"nvidia/**/{name}")):
                return str(found)
    raise RuntimeError("the package nvidia-cuda-runtime has no libcudadevrt here")


def _read(log: str) -> dict[str, Any]:
    """Return the numbers in ptxas's report of the kernel.

    >>> _read("0 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads\\nUsed 31 registers")
    {'count': 31, 'spilled': 8, 'stack': 0}
    """
    used = re.search(r"Used (\d+) registers", log)
    if used is None:
        raise RuntimeError("the linker did not say how many registers the kernel uses")
    memory = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores", log)
    stack, spilled = (int(memory[1]), int(memory[2])) if memory else (0, 0)
    return {"count": int(used[1]), "spilled": spilled, "stack": stack}


if __name__ == "__main__":
    # The folder of this file comes first when it is run by its path; its modules are not ours.
    sys.path.pop(0)
    main()
