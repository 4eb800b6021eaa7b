"""Execute each notebook once for all tests of its outputs; start one Lab per test file."""

import pytest

from gpukit.course import workbook
from tests.notebooks import lab, running


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Keep xdist groups effective: xdist 3.8 adds them to an attribute that pytest 9.2 ignores."""
    for item in items:
        grouped = getattr(item, "_nodeid", item.nodeid)
        if item.nodeid != grouped:
            item._id = item.id.parse(grouped)


@pytest.fixture(scope="session", params=running.EACH)
def executed(request):
    """Return each notebook in turn, with solutions inserted and the outputs of a fresh run."""
    notebook = running.execute(running.with_solutions(running.read(request.param)))
    notebook.metadata["lesson"] = request.param.stem
    return notebook


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """Make a workbook, so that the reader's own files are not modified."""
    folder = tmp_path_factory.mktemp("lab") / "workbook"
    workbook.start(folder, running.ROOT)
    return folder


@pytest.fixture(scope="module")
def address(book):
    """Return the address of a Lab that serves the workbook."""
    with lab.serving(book) as address:
        yield address


@pytest.fixture
def opened(chromium, address):
    """Return a function that opens a lesson by name; close it at the end."""
    lessons = []

    def lesson(name):
        lessons.append(lab.Lesson(chromium, address, name))
        return lessons[-1]

    yield lesson
    for one in lessons:
        one.page.close()
