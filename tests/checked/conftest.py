"""Recordings in a browser without network access."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gpukit.checked.player import Player
from tests.checked.chromium import Shown


@pytest.fixture
def show(chromium: Any, tmp_path: Path) -> Iterator[Callable[..., Shown]]:
    """Return a function that opens a recording from a file, in a browser without network access."""
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
