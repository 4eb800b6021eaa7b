"""The process behind `gpukit.bench.simulator`: one launch in Numba's simulator.

Run as a script with NUMBA_ENABLE_CUDASIM=1: a pickled launch on its input, on its output the
seconds that it took and the arguments afterwards. It does not import gpukit, but for the file that
puts a kernel together again.
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
    """Answer the request on the standard input."""
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
    # The folder of this file comes first when it is run by its path; its modules are not ours.
    sys.path.pop(0)
    main()
