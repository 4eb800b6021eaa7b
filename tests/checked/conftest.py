"""A real Chromium for the player's tests, in which nothing can be fetched."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gpukit.checked.player import Player
from tests.checked.chromium import Shown

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """The browser; the test skips where it is not installed.

    Not for the whole session: while it is open an event loop runs in this thread, and other
    files' tests call asyncio.run.
    """
    library = pytest.importorskip(
        "playwright.sync_api", reason="playwright is missing: pip install playwright"
    )
    path = os.environ.get("GPUKIT_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip("Chromium is missing: on Debian, apt-get install chromium")
    with library.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def show(chromium: Any, tmp_path: Path) -> Iterator[Callable[..., Shown]]:
    """Open a recording from a file, in a browser without any network."""
    contexts = []

    def open_file(
        recording: dict[str, Any], width: int = 1280, height: int = 860, **rest: Any
    ) -> Shown:
        context = chromium.new_context(viewport={"width": width, "height": height}, **rest)
        contexts.append(context)
        context.set_offline(True)
        shown = Shown(context.new_page())
        path = Player(recording).save(tmp_path / "player.html")
        shown.page.goto(path.as_uri())
        return shown.ready()

    yield open_file
    for context in contexts:
        context.close()
