"""What gpukit shows in notebooks and browsers, looked at by axe: no serious fault for anybody.

axe-core knows the rules of WCAG that a program can judge: names of controls, contrast, tables,
landmarks of a frame. Each output is judged on a light page, on a dark one, and on a dark notebook
of a light system.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gpukit import draw, nn
from gpukit.checked import player
from gpukit.cli import watch
from gpukit.course import catalogue, grade, magic, verdicts
from gpukit.draw import timings
from tests.checked import findings, profiled, recordings

pytestmark = pytest.mark.slow

# How the system and the notebook are: its paper, its ink, its links.
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
    """The text of a training, as Jupyter shows it."""
    done = nn.History(2, 5, np.geomspace(2, 1, 10), [0.5, 0.75], 3.0)
    words = repr(done).replace("<", "&lt;")
    return f"<pre>{words}</pre>"


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
    "report of gpukit check --html": lambda: watch._page(findings.full()),
}


@pytest.fixture(scope="module")
def axe():
    library = pytest.importorskip(
        "axe_playwright_python.sync_playwright",
        reason="axe is missing: pip install axe-playwright-python",
    )
    return library.Axe()


@pytest.fixture
def faults(chromium, axe, tmp_path):
    """Open a page in a mode, and return what axe calls serious or critical there."""
    contexts = []

    def judge(text: str, scheme: str) -> list[str]:
        contexts.append(chromium.new_context(color_scheme=scheme))
        page = contexts[-1].new_page()
        file = tmp_path / "page.html"
        file.write_text(text, encoding="utf-8")
        page.goto(file.as_uri())
        if "gpukitPlayer" in text and "srcdoc" not in text:
            page.wait_for_selector("html[data-ready]")
        page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
        # A frame has its own page, which is judged as such.
        options = {"resultTypes": ["violations"], "iframes": False}
        found = axe.run(page, options=options).response["violations"]
        return [
            f"{one['id']}: {node['target']} {node['failureSummary']}"
            for one in found
            if one["impact"] in ("serious", "critical")
            for node in one["nodes"]
        ]

    yield judge
    for context in contexts:
        context.close()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("output", OUTPUTS)
def test_output_of_a_notebook_has_no_serious_fault(output, mode, faults):
    scheme, light, paper, ink = MODES[mode]
    page = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>A lesson</title>'
        f"<style>body {{ background: {paper}; color: {ink} }}</style><body data-jp-theme-light="
        f'"{light}"><main><h1>A lesson</h1>{OUTPUTS[output]()}</main></body></html>'
    )
    assert faults(page, scheme) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", PAGES)
def test_page_of_its_own_has_no_serious_fault(page, scheme, faults):
    assert faults(PAGES[page](), scheme) == []


def test_axe_finds_a_button_without_a_name_and_text_that_is_too_faint(faults):
    page = (
        '<html lang="en"><title>A page</title><main><button></button>'
        '<p style="color: #ccc; background: #fff">faint</p></main></html>'
    )
    assert [fault.partition(":")[0] for fault in faults(page, "light")] == [
        "button-name",
        "color-contrast",
    ]
