"""The child process of `build`: compiles kernels with the real numba-cuda.

Run as a script: it reads a pickled list of requests from standard input; the last line of its
output is JSON, for each request a list with an answer for each compute capability. It does not
import gpukit.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import json
import marshal
import operator
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from types import CellType, FunctionType, ModuleType, SimpleNamespace
from typing import Any, NamedTuple


def main() -> None:
    """Answer the requests on standard input."""
    requests = map(pickle.loads, pickle.loads(sys.stdin.buffer.read()))
    answers = [[_answer(request, c) for c in request["capabilities"]] for request in requests]
    sys.stdout.write("\n" + json.dumps(answers) + "\n")


def _answer(request: dict[str, Any], wanted: tuple[Any, ...]) -> dict[str, Any]:
    try:
        return _compile(request, wanted[:2], "lto" in wanted, "unlisted" not in wanted)
    except Exception as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        said = " ".join(lines[:3]) or "no message"
        return {"registers": None, "reason": f"the GPU compiler refused: {said}"}


def _compile(
    request: dict[str, Any], capability: tuple[Any, ...], lto: bool, listed: bool
) -> dict[str, Any]:
    import numpy as np

    if not hasattr(np, "row_stack"):  # numba-cuda 0.30 needs it, NumPy 2.5 removed it
        vars(np)["row_stack"] = np.vstack
    from numba import cuda
    from numba.cuda import dispatcher

    # Numba reads the current device's capability in several places; there may be no device.
    device = SimpleNamespace(compute_capability=capability)
    dispatcher.get_current_device = lambda: device
    options = dict(request["options"])
    most = options.pop("max_registers", None)
    kernel = Built(cuda, request["functions"]).function(0)
    options["lineinfo"] = True
    # As Numba does at a launch: allow the instructions that only this architecture has.
    suffix = "a" if capability >= (9, 0) else ""
    output = "ltoir" if lto else "ptx"
    code, _ = cuda.compile(
        kernel,
        request["types"],
        cc=(*capability, suffix),
        device=False,
        abi="numba",
        output=output,
        **options,
    )
    linked = _link(code, "{}{}{}".format(*capability, suffix), most)
    return {
        **_read(linked.log),
        "tool": f"numba-cuda {version('numba-cuda')}, nvJitLink {linked.version}",
        "ptx": "" if lto else code,
        "sass": _disassemble(linked.cubin) if listed else "",
    }


class Built:
    """The functions of a request, rebuilt with the real `cuda` in their globals."""

    def __init__(self, cuda: Any, described: list[dict[str, Any]]) -> None:
        self.cuda = cuda
        self.described = described
        self.functions: dict[int, FunctionType] = {}
        self.devices: dict[int, Any] = {}

    def function(self, number: int) -> FunctionType:
        """Return a function; it is registered before its globals, because it may call itself."""
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
        """Return the value of a name."""
        if described is None:
            return None
        kind, value = described
        if kind == "cuda":
            return operator.attrgetter(value)(self.cuda)
        if kind == "module":
            return importlib.import_module(value)
        if kind == "file":
            path, name = value
            return getattr(_loaded(path), name)
        if kind == "namespace":
            package = ModuleType("namespace")
            vars(package).update({name: self.value(found) for name, found in value.items()})
            return package
        if kind == "function":
            if value not in self.devices:
                self.devices[value] = self.cuda.jit(device=True)(self.function(value))
            return self.devices[value]
        return pickle.loads(value)


@functools.cache
def _loaded(path: str) -> ModuleType:
    """Load the module in a file without importing its package."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    if spec is None or spec.loader is None:
        raise RuntimeError(f"{path} cannot be read")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class _Linked(NamedTuple):
    """Machine code, the linker's log, and the linker's version."""

    cubin: bytes
    log: str
    version: str


def _link(code: str | bytes, architecture: str, most: int | None, runtime: bool = False) -> _Linked:
    """Link PTX text or LTO-IR bytes to machine code, with the device runtime if needed."""
    nvjitlink = importlib.import_module("cuda.bindings.nvjitlink")
    options = [f"-arch=sm_{architecture}", "-verbose", "-Xptxas=-v", "-lineinfo"]
    if most is not None:
        options.append(f"-maxrregcount={most}")
    if isinstance(code, str):
        kind, data = nvjitlink.InputType.PTX, code.encode() + b"\0"
    else:
        kind, data = nvjitlink.InputType.LTOIR, code
        options.append("-lto")
    handle = nvjitlink.create(len(options), options)
    try:
        nvjitlink.add_data(handle, kind, data, len(data), "kernel")
        if runtime:
            nvjitlink.add_file(handle, nvjitlink.InputType.LIBRARY, _device_runtime())
        try:
            nvjitlink.complete(handle)
        except Exception as error:
            said = bytearray(nvjitlink.get_error_log_size(handle))
            nvjitlink.get_error_log(handle, said)
            if b"cudaCG" in said and not runtime:  # grid.sync() calls into it
                return _link(code, architecture, most, runtime=True)
            raise RuntimeError(said.decode(errors="replace").strip("\0 \n")) from error
        log = bytearray(nvjitlink.get_info_log_size(handle))
        nvjitlink.get_info_log(handle, log)
        cubin = bytearray(nvjitlink.get_linked_cubin_size(handle))
        nvjitlink.get_linked_cubin(handle, cubin)
    finally:
        nvjitlink.destroy(handle)
    text = log.decode(errors="replace")
    return _Linked(bytes(cubin), text, "{}.{}".format(*nvjitlink.version()))


def _device_runtime() -> str:
    found = _installed("libcudadevrt.a", "cudadevrt.lib")
    if found is None:
        raise RuntimeError("the package nvidia-cuda-runtime has no libcudadevrt here")
    return found


def _installed(*names: str) -> str | None:
    """Return the path of a file in one of NVIDIA's Python packages, or None."""
    for folder in filter(None, sys.path):
        for name in names:
            for found in sorted(Path(folder).glob(f"nvidia/**/{name}")):
                return str(found)
    return None


@functools.cache
def disassembler() -> str | None:
    """Return the path of nvdisasm; None if it is not installed."""
    return _installed("nvdisasm", "nvdisasm.exe") or shutil.which("nvdisasm")


def _disassemble(cubin: bytes) -> str:
    """Disassemble machine code, with source lines."""
    tool = disassembler()
    if tool is None:
        return ""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "kernel.cubin")
        file.write_bytes(cubin)
        flags = ["--print-code", "--print-line-info", "--no-dataflow"]
        done = subprocess.run([tool, *flags, str(file)], capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"nvdisasm failed: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout.decode(errors="replace")


def _read(log: str) -> dict[str, Any]:
    """Return the numbers in ptxas's report of the kernel.

    >>> _read("0 bytes stack frame, 8 bytes spill stores\\nUsed 31 registers, 64 bytes smem")
    {'registers': 31, 'spilled': 8, 'stack': 0, 'shared': 64}
    """
    used = re.search(r"Used (\d+) registers", log)
    if used is None:
        raise RuntimeError("the linker did not say how many registers the kernel uses")
    memory = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores", log)
    stack, spilled = (int(memory[1]), int(memory[2])) if memory else (0, 0)
    shared = re.search(r"(\d+) bytes smem", log)
    return {
        "registers": int(used[1]),
        "spilled": spilled,
        "stack": stack,
        "shared": int(shared[1]) if shared else 0,
    }


if __name__ == "__main__":
    # A script's folder comes first on the path, and gpukit's modules there must not be imported.
    sys.path.pop(0)
    main()
