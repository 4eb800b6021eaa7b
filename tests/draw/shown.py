"""Widgets on a page in a browser without network access, and JavaScript modules under node."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gpukit.draw import widgets

THEMES = {"light": ("#ffffff", "#111111"), "dark": ("#111111", "#eeeeee")}


def page_of(widget: widgets.Widget, theme: str = "light") -> str:
    """Return a page with a widget, whose styles must not affect the widget."""
    paper, ink = THEMES[theme]
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>A lesson</title>'
        f"<style>body {{ background: {paper}; color: {ink} }} button {{ color: red }}</style>"
        f"<main><h1>A lesson</h1>{widget.html}</main>"
    )


class Shown:
    """A widget in a browser, with its console messages and network requests."""

    def __init__(self, browser: Any, widget: widgets.Widget, folder: Path, **how: Any) -> None:
        theme = how.pop("theme", "light")
        self.context = browser.new_context(
            viewport={"width": how.pop("width", 900), "height": 900}, **how
        )
        self.context.set_offline(True)
        self.page = self.context.new_page()
        self.page.set_default_timeout(10_000)
        self.console: list[str] = []
        self.page.on("console", lambda message: self.console.append(message.text))
        self.page.on("pageerror", lambda error: self.console.append(str(error)))
        file = folder / "widget.html"
        file.write_text(page_of(widget, theme), encoding="utf-8")
        self.page.goto(file.as_uri())

    def text(self) -> str:
        """Return the visible text."""
        return self.page.locator(".card").inner_text()

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)


def javascript(module: str, expression: str) -> Any:
    """Return the value of an expression in the scope of a module, as embedded in pages."""
    if shutil.which("node") is None:
        pytest.skip("node is missing: the numbers of the explorers are checked with it")
    text = f"{widgets.script(module)}\nconsole.log(JSON.stringify({expression}));"
    done = subprocess.run(
        ["node", "-"], input=text, capture_output=True, text=True, check=True, timeout=60
    )
    return json.loads(done.stdout)
