"""Answers are graded in copies of one warm process, where the system can make them."""

import sys

import pytest

from gpukit.course import runner
from tests.exercises import forked


@pytest.fixture(scope="package", autouse=True)
def warm():
    """Start children from one warm process for the whole folder."""
    if sys.platform != "linux":  # fork is safe and a socket keeps requests apart
        yield
        return
    one = forked.Warm()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "start", one.start)
        yield
    one.end()
