"""Executed notebooks: no errors, no hidden warnings, no images without alt text."""

import json
import re

import pytest

from tests.notebooks import measured, running

LEAST_ALT = 20
MOST_WORDS = 4500


def alts(output):
    """Return the alt text of every image in an output; "" if there is none."""
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


def test_no_object_address_is_shown(executed):
    shown = [
        number
        for number, cell in enumerate(running.code_cells(executed), start=1)
        if re.search(r"\bat 0x[0-9a-f]{6,}|<Figure size", running.texts(cell))
    ]
    assert shown == []


def test_only_cells_tagged_timing_show_measured_times(executed):
    shown = {
        cell.id: re.findall(r"\d ?(?:ns|us|ms|s|microseconds|seconds)\b", running.texts(cell))
        for cell in running.code_cells(executed)
        if "timing" not in cell.metadata.get("tags", [])
    }
    assert {name: times for name, times in shown.items() if times} == {}


def test_exercises_are_graded_as_not_attempted_and_then_as_right(executed):
    cells = [cell for cell in running.code_cells(executed) if running.exercise_of(cell)]
    starters, solved = cells[::2], cells[1::2]
    assert [cell.id for cell in starters if "Not attempted yet" not in running.texts(cell)] == []
    assert [cell.id for cell in solved if "Right: " not in running.texts(cell)] == []


def test_text_and_printed_output_of_the_core_path_are_short(executed):
    cells = running.core(executed)
    words = [cell.source if cell.cell_type == "markdown" else running.texts(cell) for cell in cells]
    assert len(" ".join(words).split()) <= MOST_WORDS


def test_numbers_in_the_text_stand_in_an_output_above_or_are_listed_facts(executed):
    facts = json.loads(measured.FACTS.read_text(encoding="utf-8"))
    listed = facts.get(executed.metadata["lesson"], {})
    assert [n for n in measured.unknown(executed) if n not in listed] == []


def test_every_listed_fact_is_a_number_of_the_text_that_no_output_shows(executed):
    listed = json.loads(measured.FACTS.read_text(encoding="utf-8"))
    unknown = set(measured.unknown(executed))
    assert set(listed.get(executed.metadata["lesson"], {})) <= unknown


@pytest.mark.slow
@pytest.mark.parametrize("executed", running.EACH[:1], indirect=True)  # it has every kind of output
def test_second_run_shows_the_same_text(executed):
    again = running.execute(running.with_solutions(running.read(running.NOTEBOOKS[0])))
    both = zip(running.code_cells(executed), running.code_cells(again), strict=True)
    fixed = [(a, b) for a, b in both if "timing" not in a.metadata.get("tags", [])]
    # Where lines break depends on the number of files in the caches, which other tests fill.
    texts = {a.id: tuple(running.texts(cell).split() for cell in (a, b)) for a, b in fixed}
    assert {name: pair for name, pair in texts.items() if pair[0] != pair[1]} == {}


def test_picture_without_alt_text_is_detected():
    bare = {"data": {"image/png": "", "text/html": "<img src=''>"}, "metadata": {}}
    assert alts(bare) == ["", ""]
