"""Widgets opened in a browser."""

import pytest

from tests.draw.shown import Shown


@pytest.fixture
def shown(chromium, tmp_path):
    opened = []

    def open_page(widget, **how):
        opened.append(Shown(chromium, widget, tmp_path, **how))
        return opened[-1]

    yield open_page
    for one in opened:
        one.context.close()
