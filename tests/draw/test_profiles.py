"""Figures of profiles: rooflines, address maps, bank maps, and their text."""

import itertools

import numpy as np
import pytest

from gpukit import draw
from gpukit.checked.counters import Counts
from gpukit.checked.profile import Profile
from gpukit.checked.profile.pattern import Pattern
from gpukit.draw import maps, profiles


def counted(name="sum_kernel", **values):
    """Return a profile with these totals."""
    return Profile(name, "", (1, 1, 1), (32, 1, 1), [], Counts(values), {}, {}, [])


def pattern(step, size=4, space="global", lanes=32, start=0):
    numbers = tuple(range(lanes))
    return Pattern(numbers, tuple(start + step * k for k in numbers), size, space, "x[i]", 7)


LIGHT = counted("light_kernel", flops_float32=100, global_bytes_moved=1000)
HEAVY = counted("heavy_kernel", flops_float32=10**6, global_bytes_moved=1000)
DOUBLE = counted("double_kernel", flops_float64=10**6, global_bytes_moved=1000)
COPY = counted("copy_kernel", global_bytes_moved=1000)

FIGURES = {
    "roofline": (draw.roofline, draw.roofline_in_words, [LIGHT, HEAVY, DOUBLE, COPY]),
    "roofline_one": (draw.roofline, draw.roofline_in_words, LIGHT),
    "roofline_none": (draw.roofline, draw.roofline_in_words, [COPY]),
    "address_near": (draw.address_map, draw.address_map_in_words, pattern(4)),
    "address_far": (draw.address_map, draw.address_map_in_words, pattern(512)),
    "address_same": (draw.address_map, draw.address_map_in_words, pattern(0)),
    "address_back": (draw.address_map, draw.address_map_in_words, pattern(-4, start=400)),
    "address_edge": (draw.address_map, draw.address_map_in_words, pattern(12, 8, start=28)),
    "address_one": (draw.address_map, draw.address_map_in_words, pattern(4, lanes=1)),
    "bank_free": (draw.bank_map, draw.bank_map_in_words, pattern(4, space="shared")),
    "bank_conflict": (draw.bank_map, draw.bank_map_in_words, pattern(128, space="shared")),
    "bank_wide": (draw.bank_map, draw.bank_map_in_words, pattern(16, 16, space="shared")),
    "bank_one": (draw.bank_map, draw.bank_map_in_words, pattern(4, 1, "shared", lanes=1)),
}


def written(figure):
    """Return all text in a figure."""
    from matplotlib.text import Text

    return "\n".join(t.get_text() for t in figure.findobj(Text) if t.get_text())


def boxes(figure):
    """Return colour and hatching of the rectangles of elements."""
    from matplotlib.colors import to_hex
    from matplotlib.patches import Rectangle

    axes = figure.axes[0]
    found = [p for p in axes.findobj(Rectangle) if p.get_zorder() >= 2 and p.get_linewidth() == 0.7]
    return [(to_hex(p.get_facecolor()), p.get_hatch() or "") for p in found]


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.costly
def test_picture_can_be_shown_with_its_alt_text(name):
    make, words, what = FIGURES[name]
    picture = draw.show(make(what), alt=words(what))
    assert picture.png.startswith(b"\x89PNG")
    assert picture.alt[-1] == "."


# ---- roofline ------------------------------------------------------------------------------------


def test_roofline_states_that_it_is_not_measured():
    assert "never a measured rate" in written(draw.roofline(LIGHT))
    assert "not measured" in draw.roofline_in_words(LIGHT)


def test_points_lie_on_the_roof_of_memory_or_of_arithmetic():
    # T4: 320 GB/s and 8.1 TFLOP/s.
    chip = profiles._roofs_of("test", "T4")
    light, heavy = profiles._points([LIGHT, HEAVY], chip)[0]
    assert light.intensity == pytest.approx(0.1)
    assert light.allowed == pytest.approx(0.1 * 320e9)
    assert heavy.allowed == pytest.approx(8.1e12)
    assert (light.by_memory, heavy.by_memory) == (True, False)


def test_float64_has_a_lower_roof():
    (point,), _ = profiles._points([DOUBLE], profiles._roofs_of("test", "T4"))
    assert point.allowed == pytest.approx(0.25e12)


def test_kernels_without_arithmetic_are_listed_outside_the_plot():
    assert "No operations on floats, so no point here: copy_kernel" in written(
        draw.roofline([COPY, LIGHT])
    )


def test_every_kernel_is_listed_with_its_number():
    shown = written(draw.roofline([LIGHT, HEAVY]))
    assert "1  light_kernel" in shown
    assert "2  heavy_kernel" in shown


def test_roofline_accepts_any_of_the_seven_gpus():
    assert "an H100 SXM" in written(draw.roofline(LIGHT, "h100"))


def test_roofline_of_an_unknown_gpu_lists_the_known_ones():
    with pytest.raises(ValueError, match="T4, L4, A100"):
        draw.roofline(LIGHT, "GTX 9000")


@pytest.mark.parametrize("count", [0, 13])
def test_roofline_rejects_too_many_kernels(count):
    with pytest.raises(ValueError, match="expected 1 to 12 profiles"):
        draw.roofline([LIGHT] * count)


# ---- addresses -----------------------------------------------------------------------------------


def test_elements_of_one_sector_look_equal_and_neighbouring_sectors_differ():
    looks = boxes(draw.address_map(pattern(4)))
    groups = [set(looks[k : k + 8]) for k in range(0, 32, 8)]
    assert all(len(group) == 1 for group in groups)
    colours, hatches = zip(*(group.pop() for group in groups), strict=True)
    for marks in (colours, hatches):
        assert all(a != b for a, b in itertools.pairwise(marks))


def test_an_element_across_a_sector_boundary_has_two_parts():
    assert len(boxes(draw.address_map(pattern(0, 8, start=28, lanes=1)))) == 2


@pytest.mark.parametrize(
    ("step", "text"),
    [
        (4, "touches 4 sectors, the minimum"),
        (8, "touches 8 sectors, ideal: 4"),
        (0, "touches 1 sector, the minimum"),
    ],
)
def test_address_map_compares_with_the_minimum(step, text):
    assert text in written(draw.address_map(pattern(step)))
    assert text in draw.address_map_in_words(pattern(step))


def test_non_adjacent_sectors_are_drawn_with_a_gap():
    near, far = maps._places([3, 4]), maps._places([3, 9])
    assert near == {3: 0, 4: 32}
    assert far[9] > 32


def test_text_of_the_address_map_has_the_numbers():
    text = draw.address_map_in_words(pattern(512))
    assert "1,024 bytes are moved, and 128 bytes of them are used" in text
    assert "512 bytes from one lane to the next" in text


def test_address_map_of_shared_memory_is_rejected():
    with pytest.raises(ValueError, match="Use bank_map"):
        draw.address_map(pattern(4, space="shared"))


def test_maps_reject_kernels_without_accesses_to_that_memory():
    with pytest.raises(ValueError, match="uses global memory"):
        draw.address_map(LIGHT)
    with pytest.raises(ValueError, match="uses shared memory"):
        draw.bank_map(LIGHT)


def test_maps_reject_a_request_without_lanes():
    with pytest.raises(ValueError, match="no lane made"):
        draw.bank_map(Pattern((), (), 4, "shared"))


# ---- banks ---------------------------------------------------------------------------------------


def test_conflicts_are_hatched_and_numbered_by_pass():
    figure = draw.bank_map(pattern(128, space="shared"))
    assert all(hatch for _, hatch in boxes(figure))
    numbers = [t.get_text() for t in figure.axes[0].texts]
    assert numbers == [str(k + 1) for k in range(32)]


def test_lanes_that_read_the_same_word_do_not_conflict():
    figure = draw.bank_map(pattern(0, space="shared"))
    assert {hatch for _, hatch in boxes(figure)} == {""}
    assert "takes 1 wavefront, no bank conflict" in written(figure)


def test_legend_has_conflicts_only_if_there_are_any():
    free, full = (written(draw.bank_map(pattern(s, space="shared"))) for s in (4, 128))
    assert "a conflict" not in free
    assert "a conflict" in full


@pytest.mark.parametrize(
    ("step", "size", "text"),
    [
        (128, 4, "takes 32 wavefronts, ideal: 1"),
        (132, 4, "takes 1 wavefront, no bank conflict"),
        (8, 8, "takes 2 wavefronts, no bank conflict"),
        (16, 8, "takes 4 wavefronts, ideal: 2"),
        (16, 16, "takes 4 wavefronts, no bank conflict"),
    ],
)
def test_bank_map_compares_with_the_minimum(step, size, text):
    assert text in draw.bank_map_in_words(pattern(step, size, "shared"))


def test_text_of_the_bank_map_names_the_bank_of_a_conflict():
    text = draw.bank_map_in_words(pattern(128, space="shared", start=12))
    assert "Bank 3 has to deliver 32 different words" in text


def test_wide_elements_are_drawn_in_both_their_banks():
    assert len(boxes(draw.bank_map(pattern(8, 8, "shared")))) == 2 * 32


# ---- from a profile ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def transposed():
    import gpukit
    from gpukit import cuda

    @cuda.jit
    def transpose_kernel(x, out):
        tile = cuda.shared.array((32, 32), np.float32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        tile[ty, tx] = x[tx, ty]
        cuda.syncthreads()
        out[ty, tx] = tile[tx, ty]

    x = np.zeros((32, 32), np.float32)
    return gpukit.profile(transpose_kernel)[1, (32, 32)](x, x.copy())


def test_maps_show_the_worst_access_of_a_profile_by_default(transposed):
    assert "x[tx, ty] in line" in draw.address_map_in_words(transposed)
    assert "tile[tx, ty] in line" in draw.bank_map_in_words(transposed)


def test_maps_show_the_selected_access(transposed):
    assert "touches 4 sectors" in draw.address_map_in_words(transposed, "out[ty, tx]")
    assert "takes 1 wavefront" in draw.bank_map_in_words(transposed, "tile[ty, tx]")
