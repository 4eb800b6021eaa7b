"""Links in pieces: what a message takes, and fits to measured times."""

import math

import numpy as np
import pytest

from gpukit.parallel.links import Compute, Link, Piece

# A library that sends small messages at once, copies medium ones, and announces large ones first.
PROTOCOLS = Link(4e-6, 2e9, (Piece(16_384, 9e-6, 6e9), Piece(2_000_000, 150e-6, 11e9)))
SIZES = 2 ** np.arange(3, 27)


def worst(link, sizes, seconds):
    return float(np.abs(link.seconds(sizes) / seconds - 1).max())


def test_message_takes_latency_and_bytes_over_bandwidth():
    assert Link(latency=2e-6, bandwidth=4e9).seconds(8_000) == pytest.approx(4e-6)


def test_empty_message_takes_the_latency():
    assert Link(latency=2e-6, bandwidth=4e9).seconds(0) == 2e-6


def test_link_without_arguments_takes_no_time():
    assert Link().seconds(1e12) == 0.0


def test_piece_holds_from_its_start_on():
    times = PROTOCOLS.seconds([16_383, 16_384])
    assert times == pytest.approx([4e-6 + 16_383 / 2e9, 9e-6 + 16_384 / 6e9])


def test_array_of_sizes_gives_an_array_of_the_times_of_each():
    sizes = np.array([[1.0, 1e5], [1e7, 0.0]])
    expected = [[PROTOCOLS.seconds(n) for n in row] for row in sizes.tolist()]
    assert PROTOCOLS.seconds(sizes).tolist() == expected


def test_fit_finds_the_pieces_that_made_the_times():
    found = Link.fit(SIZES, PROTOCOLS.seconds(SIZES), pieces=3)
    assert worst(found, SIZES, PROTOCOLS.seconds(SIZES)) < 1e-9
    assert [piece.start for piece in found.pieces] == [0, 16_384, 2**21]
    assert [piece.bandwidth for piece in found.pieces] == pytest.approx([2e9, 6e9, 11e9])


def test_one_line_misses_what_three_pieces_meet():
    rng = np.random.default_rng(5)
    seconds = PROTOCOLS.seconds(SIZES) * rng.uniform(0.98, 1.02, len(SIZES))
    one, three = (Link.fit(SIZES, seconds, pieces=k) for k in (1, 3))
    assert worst(one, SIZES, seconds) > 0.25
    assert worst(three, SIZES, seconds) < 0.05


def test_single_outlier_among_repeated_measurements_changes_nothing():
    sizes = np.repeat(SIZES, 3)
    seconds = PROTOCOLS.seconds(sizes)
    seconds[::3] *= 50
    assert worst(Link.fit(sizes, seconds), SIZES, PROTOCOLS.seconds(SIZES)) < 1e-9


def test_fit_has_no_more_pieces_than_it_needs():
    straight = Link(3e-6, 5e9)
    found = Link.fit(SIZES, straight.seconds(SIZES), pieces=1)
    assert (found.latency, found.bandwidth) == pytest.approx((3e-6, 5e9))
    assert found.larger == ()


def test_fitted_latency_is_never_below_zero():
    found = Link.fit([1000, 2000, 3000], [1e-6, 3e-6, 6e-6], pieces=1)
    assert found.latency >= 0


def test_times_that_do_not_grow_have_infinite_bandwidth():
    found = Link.fit([8, 16, 32], [4e-6, 4e-6, 3e-6], pieces=1)
    assert found.bandwidth == math.inf
    assert found.seconds(1e9) == pytest.approx(3.55e-6, rel=0.05)


@pytest.mark.parametrize(
    ("sizes", "seconds"), [([1, 2], [1.0]), ([1, 2], [1.0, 0.0]), ([1, 2], [1.0, np.nan])]
)
def test_fit_needs_a_time_for_each_size(sizes, seconds):
    with pytest.raises(ValueError, match=r"Link\.fit: expected a time above 0 for each size"):
        Link.fit(sizes, seconds)


def test_fit_needs_two_sizes():
    with pytest.raises(ValueError, match="expected 2 or more sizes"):
        Link.fit([8, 8], [1.0, 1.0])


def test_compute_takes_overhead_and_operations_over_rate():
    assert Compute(2e12, overhead=0.5).seconds(1e12) == 1.0
