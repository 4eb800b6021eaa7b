"""Answers are graded in copies of one warm process, where the system can make them."""

import pytest

from tests.exercises import forked


@pytest.fixture(scope="package")
def warm():
    """Start children from one warm process for the whole folder."""
    with forked.warm():
        yield


@pytest.fixture(autouse=True)
def graded_in_copies(request):
    """Make the warm process, which takes seconds, where answers are graded."""
    if request.node.get_closest_marker("answers"):
        request.getfixturevalue("warm")
