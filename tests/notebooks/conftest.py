"""Each notebook is executed once, for all the tests that look at its outputs; a Lab per file."""

import pytest

from gpukit.course import workbook
from tests.notebooks import lab, running


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Let groups of xdist hold: 3.8 adds them to a name that pytest 9.2 reads no longer."""
    for item in items:
        grouped = getattr(item, "_nodeid", item.nodeid)
        if item.nodeid != grouped:
            item._id = item.id.parse(grouped)


@pytest.fixture(scope="session", params=running.EACH)
def executed(request):
    """One notebook after another, with its solutions and the outputs of a fresh run."""
    return running.execute(running.with_solutions(running.read(request.param)))


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """A workbook, so that the reader's own files stay as they are."""
    folder = tmp_path_factory.mktemp("lab") / "workbook"
    workbook.start(folder, running.ROOT)
    return folder


@pytest.fixture(scope="module")
def address(book):
    """The address of a Lab that serves the workbook."""
    with lab.serving(book) as address:
        yield address


@pytest.fixture
def opened(chromium, address):
    """Open a lesson by its name, and close it at the end."""
    lessons = []

    def lesson(name):
        lessons.append(lab.Lesson(chromium, address, name))
        return lessons[-1]

    yield lesson
    for one in lessons:
        one.page.close()
