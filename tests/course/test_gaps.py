"""Patterns of unwritten elements that wrong indices leave, and their explanations."""

import numpy as np
import pytest

from gpukit.course import gaps
from gpukit.course.case import Case, poison


def launch(shape, grid, block):
    out = poison(shape)
    return Case({"out": out}, grid=grid, block=block, expected={"out": out})


VECTOR = launch(1009, 8, 128)
N, THREAD, BLOCK = np.arange(1024), np.arange(1024) % 128, np.arange(1024) // 128
INDICES = {
    "Only the first block wrote": THREAD,
    "the index is missing `cuda.threadIdx.x`, and": BLOCK,
    "Only the first element of each block": 128 * BLOCK,
    "The blocks overlap": BLOCK + THREAD,
    "Block and thread index are swapped": 128 * THREAD + BLOCK,
    "The last block, which is only partly filled": N[:896],
    "The last element was not written": N[:1008],
    "The first element was not written": N[1:1009],
    "so they overlap: start them 128 apart": 64 * BLOCK + THREAD,
    "or let each thread take more": 256 * BLOCK + THREAD,
}


def written(shape, indices):
    mask = np.zeros(shape, bool)
    mask[indices[indices < shape]] = True
    return mask


@pytest.mark.parametrize("words", INDICES)
def test_a_wrong_vector_index_is_recognised(words):
    assert any(words in s for s in gaps.sentences(VECTOR, written(1009, INDICES[words])))


def test_a_fully_written_output_has_no_sentences():
    assert gaps.sentences(VECTOR, np.ones(1009, bool)) == []


def test_an_unknown_pattern_has_no_sentences():
    mask = np.random.default_rng(7).random(1009) < 0.5
    assert gaps.sentences(VECTOR, mask) == []


def test_outputs_with_one_element_per_block_have_no_sentences():
    out = poison(8)
    case = Case({"out": out}, grid=8, block=128, expected={"out": out}, per="block")
    assert gaps.sentences(case, np.arange(8) < 1) == []


MATRIX = launch((61, 83), (3, 8), (32, 8))
ROW, COL = np.indices((61, 83))


@pytest.mark.parametrize(
    ("mask", "words"),
    [
        ((ROW < 8) & (COL < 32), "Only the first block along each axis wrote its elements"),
        (ROW < 8, "Only the first block along y wrote its elements"),
        (COL < 32, "Only the first block along x wrote its elements"),
        ((ROW < 60) & (COL < 82), "The last element along each axis was not written"),
        (COL < 64, "Rows and columns are swapped"),
        (ROW < 8, "`cuda.blockIdx.y * cuda.blockDim.y`"),
    ],
)
def test_the_wrong_axis_is_named(mask, words):
    assert any(words in s for s in gaps.sentences(MATRIX, mask)), gaps.sentences(MATRIX, mask)


def test_swapped_axes_are_recognised_in_a_mirrored_image():
    mask = COL >= 83 - 64
    assert (
        "Rows and columns are swapped, in the index or in its guard: x is the column, y the row."
        in gaps.sentences(MATRIX, mask)
    )


def test_three_permuted_axes_are_recognised():
    case = launch((3, 61, 83), (6, 8, 3), (16, 8, 1))
    mask = np.zeros((3, 61, 83), bool)
    mask[:, :, :3] = True  # x ran along the planes, z along the columns
    assert gaps.sentences(case, mask)[-1].startswith("The axes are swapped")


def test_an_output_with_fewer_axes_than_the_launch_has_no_sentences():
    assert gaps.sentences(launch(61, (3, 8), (32, 8)), np.arange(61) < 8) == []


def test_an_answer_that_calls_cuda_grid_gets_no_advice_to_compute_the_index():
    mask = np.arange(1009) < VECTOR.block
    taken = "i = cuda.grid(1)\nif i < 128:\n    out[i] = x[i]\n"
    assert gaps.sentences(VECTOR, mask, taken) == []
    assert gaps.sentences(VECTOR, mask, "i = cuda.threadIdx.x\nout[i] = x[i]\n")
