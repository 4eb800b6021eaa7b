"""The player: a recorded launch as one HTML page that steps forward and back.

The page holds its styles, its script and the recording, and fetches nothing: it works from a
file, in an e-mail and inside a notebook.

A recording is a dict that JSON can hold:

version, kernel, file     1, the kernel's name, the file (or notebook cell) where it is written
source                    [{"line": 12, "text": "    i = cuda.grid(1)"}, ...]
grid, block, warp_size    [4, 1, 1], [64, 1, 1], 32
arrays                    [{"name", "space": "global" | "shared" | "local" | "constant", "shape",
                          "dtype",
                          "before": flat values, null where never written, "owner": null, the block
                          of a shared array, or [block, thread] of a local one,
                          "whole": the array's shape, only where "shape" is its beginning}, ...]
variables                 names of the registers, in the order to show them
steps                     [{"block", "warp", "line", "kind": "run" | "branch" | "barrier" |
                          "syncwarp" | "grid_sync" | "return", "lanes": mask of the active lanes,
                          "reads": [[array, flat index, lane, value], ...],
                          "writes": [[array, flat index, lane, value, 1 if atomic], ...],
                          "set": {variable: {lane: value}}}, ...]
findings                  [{**Finding.as_dict(), "step": number of the step or null}, ...]
truncated                 null, or what was left out

Blocks and threads are flat numbers, x being the fast axis. Values are numbers, booleans or text.
"""

from __future__ import annotations

import base64
import gzip
import html
import json
import math
import re
import tempfile
import webbrowser
from importlib import resources
from pathlib import Path
from typing import Any

from gpukit import files
from gpukit.checked.report import Report

# In dependency order; together they make one script.
SCRIPTS = (
    "dom.js",
    "replay.js",
    "words.js",
    "source.js",
    "threads.js",
    "array.js",
    "inspector.js",
    "arrays.js",
    "findings.js",
    "player.js",
    "controls.js",
)
# The page comes last: its rules for narrow windows override those of the panels.
STYLES = ("panels.css", "player.css")
VERSION = 1
HEIGHT = 760  # pixels in a notebook, where the window is high enough
# Longer recordings are compressed: they shrink to a tenth, and notebooks keep them.
_COMPRESS_FROM = 200_000
# JavaScript's numbers are exact up to here.
_EXACT = 2**53
_LONG_DIGITS = re.compile(r"\d{16}")
_SLOT = re.compile(r"\{\{(\w+)\}\}")


class Player:
    """A recorded launch, to view in a notebook, in a browser or from a file.

    `report` is the launch's report, where it was checked.
    """

    def __init__(
        self, recording: dict[str, Any], report: Report | None = None, *, height: int = HEIGHT
    ) -> None:
        _check(recording)
        self.recording, self.report, self.height = recording, report, height
        self._html: str | None = None

    @property
    def html(self) -> str:
        """The whole page."""
        if self._html is None:
            self._html = page(self.recording)
        return self._html

    def save(self, path: str | Path) -> Path:
        """Write the page to a file that any browser opens, and return its path.

        Replaces an earlier page of the same kernel; raises FileExistsError for any other file.
        """
        path = Path(path)
        if path.exists() and _title(self.recording) not in path.read_text("utf-8", "replace"):
            raise FileExistsError(
                f"save: {path} exists and is not a page of {self.recording['kernel']}. Choose "
                "another name, or delete the file."
            )
        files.write(path, self.html)
        return path

    def open(self) -> Path:
        """Show the page in the browser of this machine; return the file it was written to."""
        with tempfile.NamedTemporaryFile(prefix="gpukit-", suffix=".html", delete=False) as file:
            file.write(self.html.encode("utf-8"))
        path = Path(file.name)
        webbrowser.open(path.as_uri())
        return path

    def _repr_html_(self) -> str:
        """Return the page in a frame of its own, as wide as the cell and in its colours.

        It is never higher than the window: its controls stay in sight.
        """
        name = html.escape(f"Player of {self.recording['kernel']}", quote=True)
        return (
            f'<iframe title="{name}" sandbox="allow-scripts" allow="fullscreen"'
            f' srcdoc="{html.escape(self.html)}"'
            f' style="width: 100%; height: min({self.height}px, 85vh); border: 1px solid #8884;'
            f' border-radius: 8px"></iframe><script>{_read("frame.js")}</script>'
        )

    def __repr__(self) -> str:
        steps, findings = len(self.recording["steps"]), len(self.recording.get("findings", ()))
        return (
            f"<Player of {self.recording['kernel']}: steps {steps:,}, findings {findings:,};"
            f" .save(path) writes the page, .open() shows it{_cut(self.recording)}>"
        )


def page(recording: dict[str, Any]) -> str:
    """Return the player of a recording as one self-contained HTML page."""
    _check(recording)
    text = _as_json(recording)
    form = ""
    if len(text) >= _COMPRESS_FROM:
        packed = gzip.compress(text.encode("utf-8"), compresslevel=6, mtime=0)
        form, text = ' data-form="gzip"', base64.b64encode(packed).decode("ascii")
    parts = {
        "title": _title(recording),
        "style": "".join(_read(name) for name in STYLES),
        "script": "".join(_read(name) for name in SCRIPTS),
        "form": form,
        "recording": text,
    }
    # A single pass: what is inserted may contain anything, and is not searched again.
    return _SLOT.sub(lambda slot: parts[slot[1]], _read("player.html"))


def _cut(recording: dict[str, Any]) -> str:
    return f". Incomplete: {recording['truncated']}" if recording.get("truncated") else ""


def _title(recording: dict[str, Any]) -> str:
    return html.escape(f"{recording['kernel']} - gpukit player")


def _check(recording: dict[str, Any]) -> None:
    if recording.get("version") != VERSION:
        raise ValueError(
            f"page: expected a recording of version {VERSION}, got {recording.get('version')!r}. "
            "Record the launch again with this gpukit."
        )


def _read(name: str) -> str:
    return resources.files(__name__).joinpath(name).read_text(encoding="utf-8")


def _as_json(recording: dict[str, Any]) -> str:
    """Return JSON that may be inside a script element: nothing in it can end that element."""
    try:
        text = _dump(recording)
        if _LONG_DIGITS.search(text):
            text = _dump(_plain(recording))
    except ValueError:  # nan, inf
        text = _dump(_plain(recording))
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def _dump(value: Any) -> str:
    return json.dumps(value, allow_nan=False, separators=(",", ":"), default=_from_numpy)


def _from_numpy(value: Any) -> Any:
    """Return the Python values of NumPy's scalars and arrays; anything else as its text."""
    return _plain(value.tolist()) if hasattr(value, "tolist") else str(value)


def _plain(value: Any) -> Any:
    """Return the same with text in place of the numbers that JavaScript's JSON does not hold."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, int) and abs(value) > _EXACT and not isinstance(value, bool):
        return str(value)
    return value
