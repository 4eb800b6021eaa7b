"""Each notebook is executed once, for all the tests that look at its outputs."""

import pytest

from tests.notebooks import running


@pytest.fixture(scope="session", params=running.EACH)
def executed(request):
    """One notebook after another, with its solutions and the outputs of a fresh run."""
    return running.execute(running.with_solutions(running.read(request.param)))
