"""Answers are graded in copies of one warm process, where the system can make them."""

from collections.abc import Iterator

import pytest

from tests.exercises import forked


@pytest.fixture(scope="package")
def warm() -> Iterator[None]:
    """Start children from one warm process for the whole folder."""
    with forked.warm():
        yield
