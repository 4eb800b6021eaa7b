"""The search for the smallest shape that fails tries a limited number of shapes."""

from gpukit.course import shrink


def test_no_more_shapes_are_tried_than_the_limit():
    tried = []

    def fails(shape):
        tried.append(shape)
        return shape[0] % 2 == 1  # every second step down succeeds, so the search could go on

    found = shrink.smallest((100_001, 100_001), (2, 2), fails)
    assert len(tried) == shrink.MOST_TRIES
    assert found[0] % 2 == 1


def test_the_smallest_shape_that_fails_is_found():
    assert shrink.smallest((1000, 30), (1, 1), lambda s: s[0] > 17 and s[1] > 4) == (18, 5)
