"""Explorers: numbers that match gpukit's counters, and keyboard operation."""

import json
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import gpukit
from gpukit import cuda, draw
from gpukit.checked.profile.pattern import Pattern
from tests.draw.shown import javascript

EXPLORERS = {
    "latency": lambda: draw.latency_explorer(warps=8),
    "memory": lambda: draw.memory_explorer(stride=2, offset=1),
    "pipeline": lambda: draw.pipeline_explorer(transfer=0.3),
    "launch_1d": lambda: draw.launch_explorer(1000, 256),
    "launch_2d": lambda: draw.launch_explorer((10, 13), (8, 4)),
    "launch_3d": lambda: draw.launch_explorer((3, 5, 6), (4, 4, 2), (1, 2, 2)),
}
SCHEDULERS = [
    {"warps": n, "latency": latency, "work": work}
    for n, latency, work in product((1, 2, 7, 37, 38, 64), (10, 53, 400), (0, 1, 10, 60))
]
REQUESTS = [
    {"stride": stride, "offset": offset, "size": size}
    for stride, offset, size in product(range(41), (0, 1, 3, 8, 31, 32), (1, 2, 4, 8, 16))
]
# (x, y, z): too few blocks, just enough, too many; block sizes not a multiple of a warp.
LAUNCHES = [
    {"dims": 1, "shape": [100, 1, 1], "block": [32, 1, 1], "grid": [4, 1, 1]},
    {"dims": 1, "shape": [257, 1, 1], "block": [48, 1, 1], "grid": [3, 1, 1]},
    {"dims": 1, "shape": [5, 1, 1], "block": [33, 1, 1], "grid": [2, 1, 1]},
    {"dims": 2, "shape": [13, 10, 1], "block": [8, 4, 1], "grid": [2, 3, 1]},
    {"dims": 2, "shape": [64, 43, 1], "block": [16, 16, 1], "grid": [3, 4, 1]},
    {"dims": 2, "shape": [7, 9, 1], "block": [5, 3, 1], "grid": [1, 5, 1]},
    {"dims": 3, "shape": [6, 5, 3], "block": [4, 4, 2], "grid": [1, 2, 2]},
    {"dims": 3, "shape": [9, 4, 7], "block": [3, 5, 4], "grid": [4, 1, 1]},
]


def each(module, call, states):
    """Return the values of a JavaScript expression in `s`, one per state."""
    return javascript(module, f"{json.dumps(states)}.map((s) => {call})")


def pattern(state, space="global"):
    size = state["size"]
    at = tuple(size * (state["offset"] + state["stride"] * lane) for lane in range(32))
    return Pattern(tuple(range(32)), at, size, space)


# ---- all explorers -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXPLORERS)
def test_text_and_html_are_deterministic(name):
    first, second = EXPLORERS[name](), EXPLORERS[name]()
    assert (first.html, repr(first)) == (second.html, repr(second))


@pytest.mark.parametrize("name", EXPLORERS)
def test_html_fetches_nothing(name):
    assert "http" not in EXPLORERS[name]().html


@pytest.mark.parametrize("name", EXPLORERS)
@pytest.mark.parametrize("width", [400, 900])
def test_explorer_stays_within_the_cell(shown, name, width):
    page = shown(EXPLORERS[name](), width=width).page
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("name", EXPLORERS)
def test_every_slider_is_operable_by_keyboard_and_has_an_accessible_name(shown, name):
    page = shown(EXPLORERS[name]())
    sliders = page.page.get_by_role("slider")
    for number in range(sliders.count()):
        slider = sliders.nth(number)
        before = slider.input_value()
        slider.press("ArrowRight")
        assert slider.input_value() != before
        assert slider.get_attribute("aria-label")
    assert page.console == []


def test_setting_outside_its_range_is_rejected():
    with pytest.raises(ValueError, match="expected warps from 1 to 64, got 65"):
        draw.latency_explorer(warps=65)


# ---- latency -------------------------------------------------------------------------------------


def scheduled(warps, latency, work, cycles):
    """Return the warp that issues in each cycle, or None: an independent scheduler."""
    free, todo, now = [0] * warps, [0] * warps, 0
    for cycle in range(cycles):
        able = [w for w in range(warps) if free[w] <= cycle]
        if now not in able:
            now = min(able, key=lambda w: (free[w], w), default=now)
        yield now if able else None
        if able and todo[now]:
            todo[now] -= 1
        elif able:
            free[now], todo[now] = cycle + 1 + latency, work


def test_scheduler_matches_an_independent_simulation():
    who = "Array.from({length: 900}, (_, at) => rows.findIndex((row) => row[at] >= COMPUTE))"
    found = each("latency.js", f"((rows) => {who})(timeline(s, 900))", SCHEDULERS)
    expected = [
        [-1 if one is None else one for one in scheduled(**state, cycles=900)]
        for state in SCHEDULERS
    ]
    assert found == expected


def test_scheduler_utilisation_matches_the_model():
    """Counted over one period of a warp in the steady state."""
    turn = "(s.latency + s.work + 1)"
    call = f"busyCycles(timeline(s, 12 * {turn}), 11 * {turn}, 12 * {turn})"
    for state, busy in zip(SCHEDULERS, each("latency.js", call, SCHEDULERS), strict=True):
        n, latency, work = state.values()
        share = min(Fraction(1), Fraction(n * (work + 1), latency + work + 1))
        assert Fraction(busy, latency + work + 1) == share, state


def test_utilisation_formula_is_shown_with_numbers(shown):
    page = shown(draw.latency_explorer(warps=7))
    page.page.get_by_role("slider", name="Warps").press("ArrowRight")
    assert "min(1, 8 * (10 + 1) / (400 + 10 + 1)) = 21.4 %" in page.text()


# ---- memory --------------------------------------------------------------------------------------


def test_sectors_match_the_python_pattern():
    expected = [pattern(state).sectors for state in REQUESTS]
    assert each("memory.js", "sectors(s)", REQUESTS) == expected


def test_passes_match_the_python_pattern():
    expected = [pattern(state, "shared").wavefronts for state in REQUESTS]
    assert each("memory.js", "passes(s)", REQUESTS) == expected


@pytest.mark.slow
def test_words_of_each_bank_match_the_python_pattern():
    def words(state):
        p = pattern(state, "shared")
        return [[len(p.words(part).get(bank, ())) for bank in range(32)] for part in p.phases]

    call = "phases(s).map((lanes) => wordsOfBanks(s, lanes))"
    assert each("memory.js", call, REQUESTS) == [words(state) for state in REQUESTS]


@cuda.jit
def read_kernel(x, out, stride, offset):
    i = cuda.grid(1)
    out[i] = x[offset + stride * i]


@cuda.jit
def shared_kernel(out, stride, offset):
    tile = cuda.shared.array(1400, np.float32)
    i = cuda.grid(1)
    tile[offset + stride * i] = np.float32(i)
    cuda.syncthreads()
    out[i] = tile[offset + stride * i]


@pytest.mark.cpu
@pytest.mark.parametrize(("stride", "offset"), [(1, 0), (1, 1), (2, 0), (4, 3), (8, 0), (33, 0)])
@pytest.mark.costly
def test_explorer_counts_what_profile_counts(stride, offset):
    x = cuda.to_device(np.zeros(1400, np.float32))
    out = cuda.to_device(np.zeros(32, np.float32))
    read = gpukit.profile(read_kernel)[1, 32](x, out, stride, offset)
    shared = gpukit.profile(shared_kernel)[1, 32](out, stride, offset)
    moved = next(a for a in read.accesses if a.array == "x").counts["global_load_sectors"]
    stores = [a for a in shared.accesses if a.op == "store" and a.space == "shared"]
    passes = stores[0].counts["shared_store_wavefronts"]
    state = {"stride": stride, "offset": offset, "size": 4}
    assert each("memory.js", "[sectors(s).length, passes(s)]", [state]) == [[moved, passes]]


def test_stride_slider_updates_the_text(shown):
    page = shown(draw.memory_explorer())
    assert "4 sectors: 128 bytes moved, 128 of them requested (100 %)" in page.text()
    page.page.get_by_role("slider", name="Stride").press("ArrowRight")
    assert "8 sectors: 256 bytes moved, 128 of them requested (50 %)" in page.text()
    assert "2 wavefronts, ideal: 1" in page.text()


def test_lane_is_described_with_its_address(shown):
    page = shown(draw.memory_explorer(stride=2, offset=1))
    page.page.get_by_role("slider", name="Look at lane").press("ArrowRight")
    assert "1 + 2 * 1 = 3, bytes 12 to 15, sector 0, bank 3" in page.text()


def test_element_of_an_unsupported_size_is_rejected():
    with pytest.raises(ValueError, match="expected size to be one of"):
        draw.memory_explorer(size=3)


# ---- launches ------------------------------------------------------------------------------------


@cuda.jit
def owner_kernel(seen):
    """Write block, thread and lane to the cell of this thread."""
    x, y, z = cuda.grid(3)
    seen[z, y, x, 0] = cuda.blockIdx.x
    seen[z, y, x, 1] = cuda.blockIdx.y
    seen[z, y, x, 2] = cuda.blockIdx.z
    seen[z, y, x, 3] = cuda.threadIdx.x
    seen[z, y, x, 4] = cuda.threadIdx.y
    seen[z, y, x, 5] = cuda.threadIdx.z
    seen[z, y, x, 6] = cuda.laneid


def owners(state):
    """Return the writer of each cell of data and grid, NOBODY if unwritten: (z, y, x, 7)."""
    sizes = zip(state["shape"], state["grid"], state["block"], strict=True)
    extent = [max(n, g * b) for n, g, b in sizes]
    seen = np.full((*extent[::-1], 7), -1, np.int64)
    owner_kernel[tuple(state["grid"]), tuple(state["block"])](seen)
    return seen


@pytest.mark.parametrize("state", LAUNCHES, ids=str)
@pytest.mark.costly
def test_every_cell_is_owned_by_the_thread_that_a_kernel_records(state):
    seen = owners(state)
    places = [list(at[::-1]) for at in np.ndindex(*seen.shape[:3])]
    call = "(o) => o.thread ? [...o.blockAt, ...o.thread, o.lane] : Array(7).fill(-1)"
    text = f"{json.dumps(places)}.map((at) => owner({json.dumps(state)}, at)).map({call})"
    assert javascript("launch_rules.js", text) == seen.reshape(-1, 7).tolist()


def test_totals_match_the_threads_that_ran():
    def counted(state):
        seen = owners(state)
        x, y, z = state["shape"]
        ran = seen[..., 0] >= 0
        blocks = np.unique(seen[ran][:, :3], axis=0)
        # Each thread with lane 0 begins a warp.
        warps, threads = int((seen[..., 6] == 0).sum()), int(ran.sum())
        working = int(ran[:z, :y, :x].sum())
        return {
            "blocks": len(blocks),
            "perBlock": threads // len(blocks),
            "threads": threads,
            "warps": warps,
            "emptyLanes": 32 * warps - threads,
            "idle": threads - working,
            "elements": x * y * z,
            "missed": x * y * z - working,
        }

    assert each("launch_rules.js", "totals(s)", LAUNCHES) == [counted(s) for s in LAUNCHES]


def test_a_point_of_the_picture_maps_back_to_its_cell():
    places = "[[0, 0, 0], extent(s).map((size) => size - 1)]"
    middle = "[0, 1].map((axis) => cornerOf(s, p, at)[axis] + p.cell / 2)"
    call = f"((p) => {places}.map((at) => placeAt(s, p, ...{middle})))(layout(s, 380))"
    expected = each("launch_picture.js", places, LAUNCHES)
    assert each("launch_picture.js", call, LAUNCHES) == expected


def test_index_formula_is_shown_with_the_numbers_of_the_selected_thread(shown):
    page = shown(draw.launch_explorer(1000, 256))
    page.page.get_by_role("slider", name="Look at").fill("773")
    assert "blockIdx.x * blockDim.x + threadIdx.x = 3 * 256 + 5 = 773" in page.text()
    assert "5 of block 3: has element 773" in page.text()
    assert "number 5: warp 0, lane 5" in page.text()


def test_thread_under_the_pointer_is_selected(shown):
    page = shown(draw.launch_explorer((10, 13), (8, 4)))
    page.page.get_by_role("img").hover(position={"x": 2 + 22 * 14.5, "y": 2 + 22 * 5.5})
    assert "(6, 1) of block (1, 1): idle: there is no element (14, 5)" in page.text()


def test_fewer_blocks_leave_elements_without_a_thread(shown):
    page = shown(draw.launch_explorer(1000, 256))
    page.page.get_by_role("slider", name="Blocks").press("ArrowLeft")
    assert "1,000, 232 of them without a thread" in page.text()
    assert not page.page.get_by_role("checkbox").is_checked()


def test_minimal_grid_follows_the_other_sliders(shown):
    page = shown(draw.launch_explorer(1000, 256))
    page.page.get_by_role("slider", name="Threads per block").fill("100")
    assert "kernel[10, 100]" in page.text()


def test_block_that_exceeds_gpu_limits_is_rejected(shown):
    page = shown(draw.launch_explorer((8, 64), (64, 16)))
    page.page.get_by_role("slider", name="Threads per block, y").press("ArrowRight")
    assert "A GPU refuses this launch: 1,088 threads per block, at most 1,024" in page.text()
    assert page.page.get_by_role("img").is_hidden()


def test_number_of_dimensions_can_be_changed(shown):
    page = shown(draw.launch_explorer())
    page.page.get_by_role("combobox").select_option("3 dimensions")
    assert "(0, 0, 0) of block (0, 0, 0)" in page.text()
    assert page.page.get_by_role("slider").count() == 12


@pytest.mark.parametrize(("shape", "block"), [((4, 4), 8), (0, 8), ((2, 2, 2, 2), (1, 1, 1, 1))])
def test_shape_and_block_must_have_equal_dimensions(shape, block):
    with pytest.raises(ValueError, match="expected a shape of 1 to 3 dimensions"):
        draw.launch_explorer(shape, block)


def test_launch_too_large_to_draw_is_rejected():
    with pytest.raises(ValueError, match="expected at most 65,536"):
        draw.launch_explorer((427, 640), (16, 16))
