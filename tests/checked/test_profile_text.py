"""A profile in a terminal: contents, layout at any width, and advice derived from counts."""

import io
import json
import re
import sys

import numpy as np
import pytest

from gpukit import gpu_code
from gpukit.checked.counters import Counts
from gpukit.checked.profile import cells, occupancy
from gpukit.checked.profile.pattern import Pattern
from gpukit.checked.profile.source import Place
from tests.checked.profiled import handmade, nasty, profile

NAMES = ["column", "tile", "calling", "hot", "uneven", "again", "idle"]


def line_with(text, needle):
    return next(line for line in text.splitlines() if needle in line)


# ---- what is shown -------------------------------------------------------------------------------


def test_heading_is_the_launch_as_written_in_a_script():
    assert profile("column").text().startswith("column_kernel[(2, 8), (32, 8)]\n16 blocks of 256")


def test_totals_compare_sectors_with_the_minimum():
    total = line_with(profile("column").text(width=100), "Global memory")
    assert "18 sectors per request, ideal: 4" in total
    assert "256 requests, 4,608 sectors" in total


def test_totals_give_the_fraction_of_moved_bytes_used():
    # 4096 elements are read and written; a write moves 32 bytes for its 4.
    assert "22.2 % of them are used" in profile("column").text(width=100)


def test_totals_name_bank_conflicts():
    text = profile("tile").text(width=100)
    assert "16.5 wavefronts per request, ideal: 1" in line_with(text, "Shared memory")


def test_heat_is_shown_beside_its_line():
    line = line_with(profile("tile").text(width=100), "out[ty, tx] = tile[tx, ty]")
    assert "32.0 \N{FULL BLOCK}" in line


def test_ideal_lines_have_no_shade():
    line = line_with(profile("tile").text(width=100), "tile[ty, tx] = x[ty, tx]")
    assert re.search(r"^ +4\.0 +4\.1k \N{MEDIUM SHADE}", line)


def test_columns_without_counts_are_left_out():
    heads = profile("column").text(width=100).split("Source\n")[1].splitlines()[0].split()
    assert heads == ["sectors/", "bytes", "lanes/"]


def test_docstrings_are_folded_into_their_first_line():
    text = profile("column").text(width=100)
    assert '"""Write rows as columns, ..."""' in text
    assert "a row apart" not in text


def test_device_functions_are_shown_below_the_kernel():
    source = profile("calling").text(width=100).split("Source\n")[1].split("Heat,")[0]
    kernel, helper = source.strip().split("\n\n")
    assert "def calling_kernel" in kernel
    assert "def doubled" in helper
    assert "4.0" in line_with(helper, "values[count] * np.float32(2)")


def test_accesses_of_device_functions_are_named_as_in_the_source():
    rows = profile("calling").text(width=100).split("Accesses\n")[1].splitlines()
    assert re.split(r"\s{2,}", rows[1].strip())[1:3] == ["values[count]", "global load"]


def test_arrays_are_listed_with_the_most_expensive_first():
    rows = profile("column").text(width=100).split("Arrays\n")[1].splitlines()
    assert [row.split()[0] for row in rows[1:3]] == ["out", "x"]


def test_accesses_name_the_worst_request():
    rows = profile("tile").text(width=100)
    assert line_with(rows, "shared load").endswith("32-way conflict")
    assert line_with(rows, "shared store").endswith("no conflict")


def test_occupancy_is_listed_for_seven_gpus_without_registers():
    rows = profile("tile").text(width=100).split("Occupancy\n")[1].splitlines()[1:8]
    names = ["T4", "L4", "A100", "RTX 4090", "H100", "H200", "B200"]
    assert [re.split(r"\s{2,}", row)[0] for row in rows] == names
    assert all("?" in row for row in rows)


def test_a_launch_that_counts_nothing_says_so():
    assert "Nothing was counted." in handmade().text()


def test_notes_are_shown():
    assert handmade(notes=["Only a part was run."]).text().endswith("Note: Only a part was run.")


# ---- form ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [30, 47, 80, 100])
@pytest.mark.parametrize("name", NAMES)
def test_no_line_is_wider_than_the_terminal(name, width):
    lines = profile(name).text(width=width).splitlines()
    # Paths and code between backticks are not broken.
    whole = [line for line in lines if "`" not in line and "/" not in line]
    assert max(map(len, whole)) <= width


def test_output_width_is_limited_on_wide_terminals():
    assert max(map(len, profile("hot").text(width=400).splitlines())) <= 100


def test_less_important_columns_are_dropped_in_favour_of_the_source():
    heads = profile("tile").text(width=60).split("Source\n")[1].splitlines()[0].split()
    assert heads[0] == "sectors/"
    assert len(heads) < 4


def test_long_lines_of_code_are_broken_not_cut():
    # The counts of the line are shown beside its first part only.
    text = profile("calling").text(width=50)
    shown = "".join(line.split(" | ")[-1].strip() for line in text.splitlines() if " | " in line)
    assert "return values[count] * np.float32(2)".replace(" ", "") in shown.replace(" ", "")


@pytest.mark.parametrize("width", [33, 100])
def test_colour_changes_nothing_but_colour(width):
    coloured = profile("tile").text(colour=True, width=width)
    assert "\033[" in coloured
    assert re.sub("\033\\[[0-9;]*m", "", coloured) == profile("tile").text(width=width)


def test_no_line_ends_in_spaces():
    assert not re.search(" $", profile("again").text(width=40), re.MULTILINE)


def test_terminals_without_unicode_shades_get_letters(monkeypatch):
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="cp1252"))
    text = profile("tile").text(width=100)
    assert "32.0 #" in text
    assert text.isascii()


def test_control_characters_in_the_source_are_escaped():
    assert not re.search("[\x00-\x09\x0b-\x1f]", nasty().text())


def test_profile_repr_is_its_text():
    assert repr(profile("hot")) == str(profile("hot")) == profile("hot").text()


# ---- numbers in words ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "number", [0, 1, 999, 1000, 99_999, 999_499, 10**9, 999_960_000, 7 * 10**17]
)
def test_short_numbers_have_at_most_five_characters(number):
    assert len(cells.short(number)) <= 5


@pytest.mark.parametrize("number", [1, 999, 1234, 99_950, 5_000_000])
def test_short_numbers_are_accurate_to_half_a_percent(number):
    text = cells.short(number)
    scale = {"k": 1e3, "M": 1e6}.get(text[-1], 1)
    assert abs(float(text.rstrip("kM")) * scale / number - 1) <= 0.005


# ---- advice --------------------------------------------------------------------------------------


def advice(name):
    return profile(name).advice()


def number_of(name, needle):
    return next(n for n, text in profile(name).every_line() if needle in text)


def test_advice_names_the_uncoalesced_line_and_the_distance():
    line = number_of("column", "out[col, row] =")
    assert advice("column")[0] == (
        f"Line {line}: the store to `out[col, row]` touches 32 sectors per request where 4 would "
        "be enough: neighbouring threads are 256 bytes apart. Let threadIdx.x index the last axis, "
        "or stage the elements in a shared-memory tile."
    )


def test_advice_says_nothing_about_coalesced_lines():
    assert not any("x[row, col]" in text for text in advice("column"))


def test_advice_names_the_degree_of_a_bank_conflict():
    line = number_of("tile", "tile[tx, ty]")
    assert advice("tile")[0].startswith(
        f"Line {line}: the load from `tile[tx, ty]` takes 32 wavefronts per request where 1 would "
        "be enough: up to 32 lanes"
    )
    assert "Pad the last axis of `tile` by one element" in advice("tile")[0]


def test_advice_names_hot_atomics():
    # 507 elements: 15 whole warps and one of 27 lanes.
    assert "serializes 31.7 lanes of a warp, which update the same element" in advice("hot")[0]
    assert "one element is updated 507 times in total" in advice("hot")[0]


def test_advice_names_divergent_branches():
    line = number_of("uneven", "if i % 2")
    found = next(text for text in advice("uneven") if "diverge at" in text)
    assert found.startswith(f"Line {line}: the lanes of a warp diverge at 16 of 16 branches")


def test_single_lane_branch_without_an_alternative_gets_no_advice():
    assert not any("diverge at" in text for text in advice("leader"))


def test_advice_on_an_if_without_else_says_that_lanes_wait():
    found = next(text for text in advice("alone") if "diverge at" in text)
    assert "the lanes that skip it wait for the others" in found
    assert "each side" not in found


def test_figure_above_its_ideal_is_never_displayed_as_equal_to_it():
    text = profile("rarely").text(width=100)
    assert "1 wavefronts" not in text
    assert "1.03 wavefronts per request, ideal: 1" in text


def test_advice_names_float64_by_accident():
    line = number_of("uneven", "* 3.0")
    assert any(text.startswith(f"Line {line}: 256 float64 operations") for text in advice("uneven"))


def test_advice_names_lanes_without_threads():
    assert advice("again")[0].startswith("Blocks of 40 threads leave 24 of the 32 lanes")


def test_advice_names_arrays_that_are_loaded_repeatedly():
    # 16 warps read 31 elements each, one sector per request.
    found = next(text for text in advice("again") if "moves" in text)
    assert f"moves {16 * 31 * 32:,} bytes of an array of 124" in found


def test_advice_compares_the_intensity_with_a_gpu():
    assert "below the 25.3 of a T4's ridge point" in advice("calling")[-1]


def test_advice_is_deterministic():
    assert advice("uneven") == advice("uneven")


def test_profile_without_advice_says_so():
    assert advice("calling")[0].startswith("Nothing stands out: requests are coalesced")


def test_hidden_advice_is_counted(monkeypatch):
    monkeypatch.setattr("gpukit.checked.profile.as_text.MOST_ADVICE", 1)
    assert f"{len(advice('uneven')) - 1} more: profile.advice()" in profile("uneven").text()


# ---- the same as data ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_json_holds_counts_advice_and_occupancy(name):
    data = json.loads(profile(name).to_json())
    assert data["advice"] == profile(name).advice()
    assert len(data["occupancy"]) == 7
    assert data["version"] == 2
    steps = sum(line["warp_steps"] for line in data["lines"])
    assert data["total"]["warp_steps"] == steps == profile(name).total["warp_steps"]


def test_json_holds_the_most_expensive_request_of_each_access():
    accesses = json.loads(profile("column").to_json())["accesses"]
    store = next(a for a in accesses if a["op"] == "store")
    assert store["lanes"] == list(range(32))
    assert np.unique(np.diff(store["offsets"])).tolist() == [256]


def test_occupancy_counts_static_shared_memory():
    assert profile("tile").occupancy().rows[0]["shared_static"] == 4096


def test_registers_are_queried_once(monkeypatch):
    requests = []

    def build(kernel, arguments, capabilities):
        requests.append(arguments)
        return {capability: gpu_code.Code(40) for capability in capabilities}

    monkeypatch.setattr(gpu_code, "build", build)
    made_of = occupancy.Remembered(None, (np.zeros((3, 5), np.float32, "F"), 2))
    one = handmade(remembered=made_of)
    assert "?" in one.text(width=100).split("Occupancy\n")[1]
    for _ in range(2):
        assert one.text(width=100, occupancy=True).count("    40 ") == 7
    (arguments,) = requests
    assert arguments[0].flags.f_contiguous
    assert not arguments[0].flags.c_contiguous
    assert arguments[1] == 2


def test_question_mark_for_unknown_registers_is_explained(monkeypatch):
    monkeypatch.setattr(gpu_code, "missing", lambda: "")
    text = " ".join(handmade().text(width=100).split())
    assert "? means that the registers per thread are not known: only" in text
    assert ".occupancy(registers=True) and gpukit profile --occupancy run one" in text


def test_profile_does_not_keep_large_arrays_alive():
    kept = occupancy.Remembered(None, (np.zeros(10**6), (np.zeros((9, 9))[::2, ::2],)))
    first, (second,) = kept.arguments
    assert first.size < 10
    assert not second.flags.c_contiguous


# ---- patterns ------------------------------------------------------------------------------------


def test_pattern_is_the_first_of_the_most_expensive_requests_of_an_access():
    pattern = profile("hot").pattern("x[i]")
    assert pattern.lanes == tuple(range(32))
    assert pattern.offsets == tuple(4 * k for k in range(32))


def test_pattern_can_be_selected_by_access_index_and_text():
    one = profile("column")
    place = next(k for k, a in enumerate(one.accesses) if a.op == "store")
    assert one.pattern("out[col, row]") == one.pattern(place) == one.pattern(one.accesses[place])


def test_pattern_of_an_unknown_access_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"got 'y\[i\]'. Take one of .*x\[row, col\]"):
        profile("column").pattern("y[i]")


@pytest.mark.parametrize("name", NAMES)
def test_patterns_cost_no_more_than_the_worst_request(name):
    for access in profile(name).accesses:
        pattern = access.pattern
        if access.space == "global":
            assert len(pattern.sectors) <= access.worst
        else:
            assert pattern.wavefronts <= access.worst * len(pattern.phases)


@pytest.mark.parametrize(
    ("step", "size", "sectors", "passes"),
    [
        (4, 4, 4, 1),
        (8, 4, 8, 2),
        (128, 4, 32, 32),
        (132, 4, 32, 1),
        (8, 8, 8, 2),
        (16, 16, 16, 4),
        (0, 4, 1, 1),
        (16, 8, 16, 4),
    ],
)
def test_patterns_count_sectors_and_passes(step, size, sectors, passes):
    pattern = Pattern(tuple(range(32)), tuple(step * k for k in range(32)), size)
    assert (len(pattern.sectors), pattern.wavefronts) == (sectors, passes)


def test_step_of_a_pattern_is_the_most_common_distance_between_lanes():
    assert Pattern((0, 1, 2, 3, 5), (0, 8, 16, 24, 99), 4).step == 8
    assert Pattern((0, 1, 2, 3), (0, 9, 4, 88), 4).step is None
    assert Pattern((3,), (0,), 4).step is None


def test_counts_of_another_line_are_not_mixed_in():
    counts = Counts({"global_load_requests": 2, "global_load_sectors": 8})
    at = Place("/course/reduce.py", 2)
    one = handmade(source=[(1, "a"), (2, "b")], lines={at: counts}, total=counts)
    assert cells.line_of(one, at).counts.values == counts.values
    assert cells.line_of(one, at._replace(line=1)).counts.values == {}
    assert cells.line_of(one, at._replace(file="other.py")).counts.values == {}
