"""The child process of `gpukit.bench.simulator`: one launch in Numba's simulator.

Run as a script with NUMBA_ENABLE_CUDASIM=1: it reads a pickled launch from standard input and
writes the seconds that it took and the arguments afterwards. Of gpukit it loads only the file that
rebuilds a kernel.
"""

from __future__ import annotations

import importlib.util
import pickle
import sys
import time
from pathlib import Path
from typing import Any

_BUILD = Path(__file__).with_name("child.py")


def main() -> None:
    """Answer the request on standard input."""
    given = pickle.loads(sys.stdin.buffer.read())
    from numba import cuda

    described = pickle.loads(given["request"])["functions"]
    built = _builder().Built(cuda, described)
    kernel = cuda.jit(built.function(0))
    arguments = given["arguments"]
    begin = time.perf_counter()
    kernel[given["launch"]](*arguments)
    took = time.perf_counter() - begin
    sys.stdout.buffer.write(pickle.dumps((took, arguments)))


def _builder() -> Any:
    spec = importlib.util.spec_from_file_location("build", _BUILD)
    if spec is None or spec.loader is None:
        raise RuntimeError(f"{_BUILD} cannot be read")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    # A script's folder comes first on the path, and gpukit's modules there must not be imported.
    sys.path.pop(0)
    main()
