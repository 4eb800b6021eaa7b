"""Grade answers in forks of one warm process, where the system supports fork."""

import pytest

from gpukit.course import warm as warming


@pytest.fixture(scope="package")
def warm():
    """Start children from one warm process for the whole folder."""
    with warming.warm():
        yield


@pytest.fixture(autouse=True)
def graded_in_copies(request):
    """Start the warm process, which takes seconds, only for tests that grade answers."""
    if request.node.get_closest_marker("answers"):
        request.getfixturevalue("warm")
