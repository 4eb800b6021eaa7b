"""Each notebook is executed once, for all the tests that look at its outputs."""

import pytest

from tests.notebooks import running

EACH = [
    pytest.param(p, marks=pytest.mark.xdist_group(p.stem), id=p.stem) for p in running.NOTEBOOKS
]


@pytest.fixture(scope="session", params=EACH)
def executed(request):
    """One notebook after another, with the outputs of a fresh run."""
    return running.execute(running.read(request.param))
