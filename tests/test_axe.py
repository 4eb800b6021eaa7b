"""Accessibility of gpukit's output in notebooks and browsers, tested by axe.

axe-core tests the rules of WCAG that can be automated: names of controls, contrast, tables,
landmarks. Each output is tested on a light page, on a dark one, and in a dark notebook on a light
system.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gpukit import draw, nn
from gpukit.checked import player
from gpukit.cli import outputs
from gpukit.course import catalogue, grade, magic, verdicts
from gpukit.draw import timings
from tests.checked import findings, profiled, recordings

pytestmark = pytest.mark.slow

# Color scheme of the system; the notebook's theme, background and text color.
MODES = {
    "light": ("light", "true", "#ffffff", "#212121"),
    "dark": ("dark", "false", "#111111", "#e0e0e0"),
    "dark notebook of a light system": ("light", "false", "#111111", "#e0e0e0"),
}


def exercise() -> str:
    one = catalogue.find("guarded_map")
    wrong = [verdicts.Row("a prime", "wrong", "fahrenheit[3] is 0, expected 37.4.", "n 7")]
    report = grade.Report(one.name, Path("this_cell.py"), "wrong", wrong[0].why, wrong)
    return magic.Graded(one, report)._repr_html_()


def solved() -> str:
    one = catalogue.find("guarded_map")
    report = grade.Report(
        one.name, Path("this_cell.py"), "right", "", [verdicts.Row("one", "right")]
    )
    return magic.Graded(one, report)._repr_html_()


def table() -> str:
    rows = [("saxpy", "1,000,000", "right", "1.2 ms", "0.9 ms", "0.8 x")]
    return timings.Table("On this machine", timings.HEADERS, rows)._repr_html_()


def figure() -> str:
    drawn = draw.loss_curve(np.geomspace(2, 0.1, 50), title="A training")
    bundle, _ = draw.show(
        drawn, alt="The loss falls from 2 to 0.1 in 50 steps."
    )._repr_mimebundle_()
    return bundle["text/html"]


def history() -> str:
    """The repr of a training history, as Jupyter shows it."""
    done = nn.History(2, 5, np.geomspace(2, 1, 10), [0.5, 0.75], 3.0)
    text = repr(done).replace("<", "&lt;")
    return f"<pre>{text}</pre>"


OUTPUTS = {
    "check": lambda: findings.full()._repr_html_(),
    "profile": lambda: profiled.profile("tile")._repr_html_(),
    "profile of a busy kernel": lambda: profiled.profile("hot")._repr_html_(),
    "exercise": exercise,
    "solved exercise": solved,
    "player in a frame": lambda: player.Player(recordings.reduction())._repr_html_(),
    "table": table,
    "figure": figure,
    "history": history,
    "launch explorer": lambda: draw.launch_explorer(1000, 256).html,
    "memory explorer": lambda: draw.memory_explorer().html,
    "pipeline explorer": lambda: draw.pipeline_explorer().html,
    "latency explorer": lambda: draw.latency_explorer(warps=7).html,
}
PAGES = {
    "player": lambda: player.page(recordings.reduction()),
    "report of gpukit check --html": lambda: outputs.page(findings.full()),
}


@pytest.fixture(scope="module")
def axe():
    library = pytest.importorskip(
        "axe_playwright_python.sync_playwright",
        reason="axe is missing: pip install axe-playwright-python",
    )
    return library.Axe()


@pytest.fixture
def violations(chromium, axe, tmp_path):
    """Return a function that opens a page and returns its serious and critical violations."""
    contexts = []

    def analyse(text: str, scheme: str) -> list[str]:
        contexts.append(chromium.new_context(color_scheme=scheme))
        page = contexts[-1].new_page()
        file = tmp_path / "page.html"
        file.write_text(text, encoding="utf-8")
        page.goto(file.as_uri())
        if "gpukitPlayer" in text and "srcdoc" not in text:
            page.wait_for_selector("html[data-ready]")
        page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
        # The page in a frame is tested separately.
        options = {"resultTypes": ["violations"], "iframes": False}
        found = axe.run(page, options=options).response["violations"]
        return [
            f"{one['id']}: {node['target']} {node['failureSummary']}"
            for one in found
            if one["impact"] in ("serious", "critical")
            for node in one["nodes"]
        ]

    yield analyse
    for context in contexts:
        context.close()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("output", OUTPUTS)
def test_output_in_a_notebook_has_no_serious_violation(output, mode, violations):
    scheme, light, background, color = MODES[mode]
    style = f"body {{ background: {background}; color: {color} }}"
    page = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>A lesson</title>'
        f'<style>{style}</style><body data-jp-theme-light="{light}"><main><h1>A lesson</h1>'
        f"{OUTPUTS[output]()}</main></body></html>"
    )
    assert violations(page, scheme) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_no_serious_violation(page, scheme, violations):
    assert violations(PAGES[page](), scheme) == []


def test_axe_finds_a_button_without_a_name_and_text_of_low_contrast(violations):
    page = (
        '<html lang="en"><title>A page</title><main><button></button>'
        '<p style="color: #ccc; background: #fff">faint</p></main></html>'
    )
    assert [one.partition(":")[0] for one in violations(page, "light")] == [
        "button-name",
        "color-contrast",
    ]
