"""The notebooks executed: no error, no hidden warning, no picture without words."""

import re

from tests.notebooks import running

LEAST_ALT = 20


def alts(output):
    """The alt text of every picture in one output; "" where there is none."""
    data, metadata = output.get("data", {}), output.get("metadata", {})
    found = [metadata.get(kind, {}).get("alt", "") for kind in data if kind.startswith("image/")]
    for tag in re.findall(r"<img\b[^>]*>", data.get("text/html", "")):
        match = re.search(r'alt="([^"]*)"', tag)
        found.append(match.group(1) if match else "")
    return found


def test_every_cell_runs(executed):
    last = [cell.execution_count for cell in running.code_cells(executed)][-1]
    assert last == len(running.code_cells(executed))


def test_nothing_is_written_to_stderr(executed):
    loud = {
        number: output.text
        for number, output in running.outputs(executed)
        if output.get("name") == "stderr"
    }
    assert loud == {}


def test_every_picture_has_alt_text(executed):
    silent = [
        number
        for number, output in running.outputs(executed)
        if any(len(alt) < LEAST_ALT for alt in alts(output))
    ]
    assert silent == []


def test_there_are_pictures(executed):
    assert sum(bool(alts(output)) for _, output in running.outputs(executed)) >= 5


def test_no_address_of_an_object_is_shown(executed):
    shown = [
        number
        for number, cell in enumerate(running.code_cells(executed), start=1)
        if re.search(r"\bat 0x[0-9a-f]{6,}|<Figure size", running.texts(cell))
    ]
    assert shown == []


def test_picture_without_alt_text_would_be_seen():
    bare = {"data": {"image/png": "", "text/html": "<img src=''>"}, "metadata": {}}
    assert alts(bare) == ["", ""]
