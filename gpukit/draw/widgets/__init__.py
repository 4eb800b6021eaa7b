"""Interactive HTML widgets: no kernel, no network, no build step.

Each is an ES module of this folder. A page contains its whole text, with the modules that it
imports, in a script after an element that it fills; the element's initial content is for
pages without scripts.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
from collections.abc import Sequence
from importlib import resources
from typing import Any

_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([\w.]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export ", re.MULTILINE)


class Widget:
    """HTML as Jupyter shows it, and the text where HTML is not shown."""

    def __init__(self, page: str, words: str) -> None:
        self.html, self.words = page, words

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        del include, exclude
        return {"text/html": self.html, "text/plain": self.words}

    def __repr__(self) -> str:
        return self.words


def widget(
    name: str, options: dict[str, Any], *, styles: Sequence[str], fallback: str, words: str
) -> Widget:
    """Return the widget of `name`.js with these style sheets and options.

    The module exports a function of its own name: (element, styles, options). `fallback` is HTML.
    """
    sheets = "".join(map(read, ("card.css", *styles)))
    code = f"{script(f'{name}.js')}\n{name}(host, {_json(sheets)}, {_json(options)});"
    digest = hashlib.sha256(_json(options).encode("utf-8")).hexdigest()[:12]
    # In a function of its own: two widgets of a page share no names.
    page = (
        f'<div id="gpukit-{name}-{digest}" class="gpukit-{name}">{fallback}</div>'
        f"<script>((host) => {{\n{code}\n}})(document.currentScript.previousElementSibling);"
        "</script>"
    )
    return Widget(page, words)


def script(name: str) -> str:
    """Return a module preceded by its imports, as the text of one script."""
    found: dict[str, str] = {}
    _collect(name, found)
    return "\n".join(found.values())


def _collect(name: str, found: dict[str, str]) -> None:
    if name in found:
        return
    text = read(name)
    for needed in _IMPORT.findall(text):
        _collect(needed, found)
    found[name] = _EXPORT.sub("", _IMPORT.sub("", text))


def read(name: str) -> str:
    """Return the text of a file of this folder."""
    return resources.files(__name__).joinpath(name).read_text(encoding="utf-8")


def code_marked(text: str) -> str:
    """Return HTML of text in which names between backticks are set as code.

    >>> code_marked("is `a < b`?")
    'is <code>a &lt; b</code>?'
    """
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(text))


def _json(value: Any) -> str:
    """Return JSON that may be inside a script element: nothing in it can end that element."""
    text = json.dumps(value, sort_keys=True)
    return text.replace("<", "\\u003c")
