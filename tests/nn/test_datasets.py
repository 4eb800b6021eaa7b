"""Built-in datasets, and text as tokens."""

import numpy as np
import pytest

from gpukit import nn


def test_digits_are_images_and_labels_to_learn_and_to_test():
    (images, labels), (tested, answers) = nn.digits(0)
    assert images.shape[1:] == tested.shape[1:] == (1, 8, 8)
    assert (images.dtype, labels.dtype) == (np.float32, np.int32)
    assert (images.min(), images.max()) == (0, 1)
    assert len(labels) + len(answers) == 1797
    assert set(answers) == set(range(10))


def test_every_digit_is_in_the_test_set_of_exactly_one_split():
    tested = np.concatenate([nn.digits(split)[1][0] for split in range(4)])
    whole = np.concatenate([part[0] for part in nn.digits(0)])
    assert len(tested) == 1797
    np.testing.assert_array_equal(np.unique(tested, axis=0), np.unique(whole, axis=0))


def test_there_is_no_fifth_split():
    with pytest.raises(ValueError, match="digits: expected split from 0 to 3, got 4"):
        nn.digits(4)


def test_text_is_english_and_deterministic():
    assert 30_000 < len(nn.text()) < 80_000
    assert nn.text().count(" the ") > 100
    assert nn.text() == nn.text()


def test_encoded_text_decodes_to_itself():
    characters = nn.Characters("hello world")
    tokens = characters.encode("low")
    assert characters.decode(tokens) == "low"
    assert tokens.dtype == np.int32
    assert len(characters) == 8


def test_an_unknown_character_is_named():
    with pytest.raises(ValueError, match="got 'z'"):
        nn.Characters("abc").encode("abz")


def test_windows_are_all_sequences_with_their_next_tokens():
    pieces, following = nn.windows([5, 6, 7, 8, 9], 3)
    assert pieces.tolist() == [[5, 6, 7], [6, 7, 8]]
    assert following.tolist() == [[6, 7, 8], [7, 8, 9]]


@pytest.mark.parametrize("length", [0, 5])
def test_a_window_needs_a_next_token(length):
    with pytest.raises(ValueError, match=f"windows: expected length from 1 to 4, got {length}"):
        nn.windows([5, 6, 7, 8, 9], length)
