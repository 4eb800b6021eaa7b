"""Kernels compiled from text, with their source in `linecache` like a notebook cell's."""

import ast
import itertools
import linecache
import math
import textwrap
from typing import Any

import numpy as np
import pytest

from gpukit import cuda, errors
from gpukit.compiler import pyfunc

_cells = itertools.count()


def kernel_of(body: str, signature: str = "a", **names: Any) -> Any:
    """Return the kernel `bad_kernel(signature)` with this body; `names` are its globals."""
    text = f"@cuda.jit\ndef bad_kernel({signature}):\n" + textwrap.indent(body, "    ") + "\n"
    file = f"<cell {next(_cells)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope = {"cuda": cuda, "np": np, "math": math, **names}
    exec(compile(text, file, "exec"), scope)
    return scope["bad_kernel"]


def generated(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that receives the statements of each function generated from now on."""
    found: list[str] = []
    build = pyfunc.build

    def recorded(name: Any, parameters: Any, body: Any, *rest: Any) -> Any:
        found.extend(map(ast.unparse, body))
        return build(name, parameters, body, *rest)

    monkeypatch.setattr(pyfunc, "build", recorded)
    monkeypatch.setenv("GPUKIT_CACHE", "0")
    return found


def refusal(kernel: Any, body: str, kind: type[errors.CompileError]) -> str:
    """Return the message of a refused launch, after checking the line that it names.

    That line of the body ends in the comment `# here`, or is the last.
    """
    a = np.zeros(4)
    with pytest.raises(kind) as caught:
        kernel[1, 4](a)
    assert not a.any()
    error, text = caught.value, str(caught.value)
    lines = body.splitlines()
    marked = [line for line in lines if line.endswith("# here")] or lines[-1:]
    assert [error.source.strip()] == [line.strip() for line in marked], text
    assert f"{error.file}:{error.line} in " in text
    assert f"> {error.source.strip()}" in text
    assert error.kernel == "bad_kernel"
    return text
