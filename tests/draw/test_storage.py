"""Figures of the lesson on memory: their numbers against computed ones."""

import math
from itertools import pairwise

import pytest

from gpukit import draw
from gpukit.draw import storage, tiles
from tests.draw.figures import words


def test_walks_visit_each_element_once():
    for panel in draw.walks(4).axes:
        shown = [text.get_text() for text in panel.texts]
        assert [shown.count(f"{iteration}") for iteration in range(4)] == [4] * 4


def test_walks_label_rows_or_columns_with_their_thread():
    rows, columns = draw.walks(3).axes
    threads = ["0", "1", "2"]
    assert [label.get_text() for label in rows.get_yticklabels()] == threads
    assert [label.get_text() for label in columns.get_xticklabels()] == threads
    assert (rows.get_ylabel(), columns.get_xlabel()) == ("thread", "thread")


def test_memories_are_labelled_with_the_sizes_of_the_gpu():
    shown = "\n".join(words(draw.memories("H100")))
    assert "one of 132" in shown
    assert "50 MB" in shown
    assert "3.35 TB/s" in shown
    assert "228 KB" in shown
    assert "L1 cache: the rest\nof the same 256 KB" in shown


def test_memories_say_that_a_bandwidth_is_unknown(monkeypatch):
    unknown = storage.gpus.Gpu(**{**vars(storage.gpus.GPUS["T4"]), "l2": None, "bandwidth": None})
    monkeypatch.setitem(storage.gpus.GPUS, "T4", unknown)
    assert "L2 cache: size not found, for all SMs" in words(draw.memories("T4"))


@pytest.mark.parametrize("gpu", storage.gpus.GPUS)
def test_memories_of_every_gpu_can_be_drawn(gpu):
    assert "constant cache" in words(draw.memories(gpu))


@pytest.mark.parametrize(("x", "y"), [(0, 0), (5, 2), (31, 7)])
def test_tile_steps_follow_one_element_of_the_transpose(x, y):
    shown = words(draw.tile_steps((x, y)))
    for place in (f"x[{y}, {32 + x}]", f"tile[{y}, {x}]", f"tile[{x}, {y}]", f"out[{32 + y}, {x}]"):
        assert place in shown


@pytest.mark.parametrize("width", range(1, 66))
def test_passes_of_a_column_are_the_gcd_with_the_number_of_banks(width):
    assert tiles.column_wavefronts(width) == math.gcd(width, 32)


def test_tile_banks_name_the_bank_of_each_word():
    (panel,) = draw.tile_banks((33,), shown=3).axes
    assert panel.get_title(loc="left") == "rows of 33 words: 1 wavefront"
    assert (panel.get_xlabel(), panel.get_ylabel()) == ("column of the tile", "row of the tile")
    banks = [int(text.get_text()) for text in panel.texts if text.get_text() != "..."]
    assert banks == [0, 1, 2, 1, 2, 3, 2, 3, 4]  # each row is shifted by one bank


def test_stride_bars_are_labelled_with_their_heights():
    shown = words(draw.stride_bars([1, 7]))
    assert "7" in shown


def test_one_stream_does_one_thing_at_a_time():
    steps = draw.stream_steps((2, 1, 2), pieces=4, streams=1)
    assert steps[-1].end == 20
    assert all(a.end <= b.begin for a, b in pairwise(steps))


def test_several_streams_keep_three_engines_busy():
    steps = draw.stream_steps((2, 1, 2), pieces=4, streams=4)
    assert max(step.end for step in steps) == 11
    for engine in range(3):
        mine = [step for step in steps if step.engine == engine]
        assert all(a.end <= b.begin for a, b in pairwise(mine))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: draw.walks(17),
        lambda: draw.walks(4, iteration=4),
        lambda: draw.memories("abacus"),
        lambda: draw.tile_steps((0, 8)),
    ],
)
def test_invalid_arguments_are_rejected(wrong):
    with pytest.raises(ValueError, match="expected"):
        wrong()
