"""Each notebook is executed once, for all the tests that look at its outputs."""

import pytest

from tests.notebooks import running


@pytest.fixture(scope="session", params=running.NOTEBOOKS, ids=lambda path: path.stem)
def executed(request):
    """One notebook after another, with the outputs of a fresh run."""
    return running.execute(running.read(request.param))
