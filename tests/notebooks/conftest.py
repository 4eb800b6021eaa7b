"""Each notebook is executed once for all tests of its outputs, and once more with solutions."""

import importlib.util
from pathlib import Path

import pytest

_spec = importlib.util.spec_from_file_location("running", Path(__file__).with_name("running.py"))
_done = {}
