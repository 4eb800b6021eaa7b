"""Tests against PyTorch on the CPU, for `make torch`. Where it is missing, nothing is collected."""

import importlib.util

collect_ignore_glob = [] if importlib.util.find_spec("torch") else ["*.py"]
