"""Runs cells in a Jupyter kernel, started as JupyterLab does, and returns their output."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from tests.conftest import ROOT

SECONDS_PER_CELL = 120


class Shown(NamedTuple):
    """The output of a cell, and its error or an empty string."""

    text: str
    error: str


class Notebook:
    """A running kernel. `notebook.run(cell)` runs a cell in it."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def run(self, cell: str) -> Shown:
        """Run a cell and wait until it is done."""
        texts: list[str] = []
        indices: dict[str | None, int] = {}  # of displays in `texts`, which may be updated
        errors: list[str] = []

        def collect(message: dict[str, Any]) -> None:
            content = message["content"]
            if message["msg_type"] == "stream":
                texts.append(content["text"])
            elif message["msg_type"] in ("execute_result", "display_data", "update_display_data"):
                display = content.get("transient", {}).get("display_id")
                if message["msg_type"] != "update_display_data":
                    indices[display] = len(texts)
                    texts.append("")
                text = content["data"].get("text/plain", "")
                texts[indices[display]] = text and f"{text}\n"  # a status line ends as ""
            elif message["msg_type"] == "error":
                errors.append(f"{content['ename']}: {content['evalue']}")

        self._client.execute_interactive(cell, output_hook=collect, timeout=SECONDS_PER_CELL)
        return Shown("".join(texts), re.sub(r"\x1b\[[\d;]*m", "", "\n".join(errors)))


@contextmanager
def notebook(folder: Any = ROOT, **environment: str) -> Iterator[Notebook]:
    """Start a Jupyter kernel in a folder and shut it down after the `with` block."""
    from jupyter_client.manager import start_new_kernel

    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    full = {**os.environ, "PYTHONPATH": path, "PYTHONWARNINGS": "default", **environment}
    manager, client = start_new_kernel(kernel_name="python3", env=full, cwd=str(folder))
    try:
        yield Notebook(client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
