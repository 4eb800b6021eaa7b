"""Install the stand-in in child processes of `gpukit run`, `train` and `pytest -p gpukit.standin`.

Python imports a module of this name at start-up. It stands in for `numba.cuda` where the
parent process did, then imports the next `sitecustomize` on the path.
"""

import importlib
import importlib.util
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def hand_on() -> None:
    """Import the `sitecustomize` that this one hides, if there is one."""
    hidden = sys.modules.pop("sitecustomize", None)
    sys.path[:] = [p for p in sys.path if os.path.abspath(p or ".") != HERE]
    try:
        importlib.import_module("sitecustomize")
    except ImportError:
        if hidden is not None:
            sys.modules["sitecustomize"] = hidden


def stand_in() -> None:
    """Install the stand-in, from the parent's copy of gpukit if necessary."""
    if importlib.util.find_spec("gpukit") is None:
        sys.path.append(ROOT)
    from gpukit import standin

    standin.install(children=True)


hand_on()
if os.environ.get("GPUKIT_STANDIN") == "1":
    stand_in()
