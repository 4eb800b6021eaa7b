"""Messages and advice of findings: complete sentences for any details."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpukit.checked.finding import KINDS
from gpukit.checked.messages import describe
from tests.checked.findings import ACROSS, DETAILS, RACE

TWO_THREADS = [kind for kind in KINDS if len(DETAILS[kind].get("threads", ())) == 2]
ONE_THREAD = [
    kind
    for kind in KINDS
    if len(DETAILS[kind].get("threads", ())) == 1 and not kind.startswith("barrier")
]
# The details of all kinds together, from which Hypothesis draws subsets.
EVERYTHING = {key: value for details in DETAILS.values() for key, value in details.items()}


def message(kind, **changes):
    return describe(kind, {**DETAILS[kind], **changes})[0]


def fix(kind, **changes):
    return describe(kind, {**DETAILS[kind], **changes})[1]


def test_examples_cover_every_kind():
    assert set(DETAILS) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_message_is_a_sentence(kind):
    text = message(kind)
    assert text[0].isupper() or text[0] == "`"
    assert text.endswith(".")
    assert "\n" not in text


@pytest.mark.parametrize("kind", KINDS)
def test_fix_is_a_clause_after_what_to_do(kind):
    text = fix(kind)
    assert text[0].islower()
    assert not text.endswith(".")


@pytest.mark.parametrize("kind", KINDS)
def test_message_without_any_detail_is_still_a_sentence(kind):
    text, advice = describe(kind, {})
    assert text.endswith(".")
    assert advice
    assert "None" not in text + advice
    assert "  " not in text + advice


@given(st.sampled_from(list(KINDS)), st.sets(st.sampled_from(sorted(EVERYTHING))), st.booleans())
def test_any_details_may_be_missing(kind, keys, as_none):
    known = {**EVERYTHING, **DETAILS[kind]}
    details = {key: known[key] for key in keys}
    if as_none:
        details |= {key: None for key in EVERYTHING if key not in keys}
    text, advice = describe(kind, details)
    assert text.endswith(".")
    assert "None" not in text + advice
    assert text.count("`") % 2 == advice.count("`") % 2 == 0


@pytest.mark.parametrize("kind", KINDS)
def test_numpy_numbers_give_the_same_message(kind):
    details = dict(DETAILS[kind])
    for key in ("index", "shape", "first_unwritten"):
        if key in details:
            details[key] = tuple(np.int64(n) for n in details[key])
    assert describe(kind, details) == describe(kind, DETAILS[kind])


@pytest.mark.parametrize("kind", TWO_THREADS)
def test_race_names_element_threads_blocks_and_lines(kind):
    details = DETAILS[kind]
    text = message(kind)
    assert f"{details['array']}[4]" in text
    assert f"hread 4 of block {details['blocks'][1][0]}" in text
    assert "thread 3 of" in text
    assert f"line {details['line']}" in text
    assert f"line {details['other_line']}" in text


@pytest.mark.parametrize("kind", ONE_THREAD)
def test_access_names_thread_block_and_line(kind):
    assert "hread 3 of block 2" in message(kind)
    assert "line 15" in message(kind)


@pytest.mark.parametrize("kind", ["stream-race", "host-race"])
def test_race_of_operations_names_array_lines_and_streams(kind):
    text = message(kind)
    for part in (DETAILS[kind]["array"], "line 15", "line 12", "stream `s1`"):
        assert part in text


def test_race_of_streams_is_fixed_by_an_event_between_the_lines():
    assert fix("stream-race") == (
        "record an event on stream `s1` after line 12 and make stream `s2` wait for it before line "
        "15: `done.record(s1)`, then `done.wait(s2)`; or use one stream for both"
    )


def test_host_race_is_fixed_by_a_synchronization_before_the_line():
    assert fix("host-race") == "call `s1.synchronize()` before line 15"


def test_streams_of_the_same_name_are_distinguished_by_number():
    text = message("stream-race", stream="s", other_stream="s")
    assert "stream `s` (number 1)" in text
    assert "stream `s` (number 2)" in text


def test_stream_without_a_name_is_identified_by_number():
    assert "stream 1 " in message("host-race", other_stream="")
    assert "the default stream" in message("host-race", other_stream_number=0)


def test_earlier_access_of_a_race_comes_first():
    assert message("shared-race") == (
        "Thread 4 of block 2 writes tile[4] in line 12 and thread 3 of the same block reads it in "
        "line 15, with no barrier in between, so the value read may be the old or the new one."
    )


def test_race_within_one_line_names_the_line_once():
    text = message("shared-race", other_line=15)
    assert text.startswith("In line 15, thread 4 of block 2 writes")
    assert text.count("line") == 1


def test_barrier_belongs_between_the_two_lines():
    assert fix("shared-race").startswith(
        "put `cuda.syncthreads()` between line 12 and line 15, where all threads"
    )


def test_barrier_belongs_at_the_end_of_the_loop_when_the_earlier_line_comes_later():
    assert "after line 20, before any thread runs line 15 again" in fix(
        "shared-race", other_line=20
    )


def test_race_within_one_line_is_fixed_by_a_variable_or_a_barrier_at_the_end():
    advice = fix("shared-race", other_line=15)
    assert "loop's body with `cuda.syncthreads()`" in advice
    assert "read into a variable" in advice


@pytest.mark.parametrize("hazard", ["write-write", "read-write", "write-read"])
def test_no_barrier_is_advised_between_blocks(hazard):
    assert "syncthreads" not in fix("global-race", hazard=hazard)
    assert "blocks run in any order" in message("global-race", hazard=hazard)


def test_race_in_global_memory_within_a_block_needs_a_barrier():
    assert "syncthreads" in describe("global-race", {**ACROSS, "blocks": RACE["blocks"]})[1]


SUM = {"what": "total[0]", "other_what": "total[0]", "source": "    total[0] += x[i]"}


@pytest.mark.parametrize("kind", ["global-race", "shared-race", "warp-race"])
def test_concurrent_update_of_one_element_is_fixed_by_an_atomic(kind):
    advice = fix(kind, **SUM, array="total", other_line=15, hazard="write-write")
    assert "`cuda.atomic.add(total, 0, x[i])`" in advice
    assert "syncthreads" not in advice


def test_in_place_sum_of_neighbours_is_not_fixed_by_an_atomic():
    parts = {"what": "s[t]", "other_what": "s[t + 1]", "source": "s[t] += s[t + 1]"}
    assert "atomic" not in fix("shared-race", **parts, other_line=15)


def test_in_place_stencil_is_fixed_by_a_second_array():
    parts = {"what": "a[i]", "other_what": "a[i + 1]", "source": "a[i] = a[i - 1] + a[i + 1]"}
    for kind in ("global-race", "warp-race"):
        assert "write to another array" in fix(kind, **parts, other_line=15, hazard="read-write")


@pytest.mark.parametrize("hazard", ["write-write", "read-write", "write-read"])
def test_barrier_is_not_advised_to_one_line_of_several_blocks(hazard):
    details = {**RACE, "other_line": 15, "hazard": hazard}
    _, advice = describe("global-race", {**details, "block_count": 4})
    assert "put `cuda.syncthreads()`" not in advice
    assert "`cuda.syncthreads()` orders only threads of one block" in advice
    assert "grid.sync()" in advice or "atomic.add" in advice


def test_race_with_an_unknown_thread_of_another_block_gets_no_barrier_advice():
    unknown = {"threads": ((3, 0, 0),), "blocks": ((1, 0, 0),), "elsewhere": True}
    text, advice = describe("global-race", {**ACROSS, **unknown})
    assert text.startswith("A thread of another block writes out[4] in line 12 and thread 3 of bl")
    assert "syncthreads" not in advice


def test_race_inside_a_warp_needs_syncwarp():
    assert "cuda.syncwarp()" in fix("warp-race")
    assert "syncthreads" not in fix("warp-race")


@pytest.mark.parametrize(
    ("blocks", "expected"),
    [
        (RACE["blocks"], "`if cuda.threadIdx.x == 0:`"),
        (ACROSS["blocks"], "`if cuda.grid(1) == 0:`"),
    ],
    ids=["one block", "two blocks"],
)
def test_same_value_race_is_fixed_by_writing_from_one_thread(blocks, expected):
    assert expected in fix("same-value-race", blocks=blocks)


@pytest.mark.parametrize(
    ("atomic", "expected"),
    [
        (True, "writes out[4] non-atomically in line 12 and thread 3 of block 1 reads it atomic"),
        (False, "writes out[4] atomically in line 12 and thread 3 of block 1 reads it non-at"),
        (None, "one of them atomically and the other not"),
    ],
)
def test_atomic_race_message_says_which_access_is_atomic(atomic, expected):
    assert expected in message("atomic-race", atomic=atomic)


def test_two_axes_of_threads_and_blocks_are_written_as_pairs():
    text = message("out-of-bounds", threads=((3, 1, 0),), blocks=((0, 2, 1),))
    assert text.startswith("Thread (3, 1) of block (0, 2, 1) accesses x[131] in line 15")


def test_guard_uses_the_index_as_written_in_the_source():
    assert "`if i + 1 < x.shape[0]:`" in fix("out-of-bounds")


def test_guard_names_the_axis_that_is_too_small():
    advice = fix("out-of-bounds", index=(2, 7), shape=(5, 7), what="x[row, col]")
    assert "`if col < x.shape[1]:`" in advice


def test_index_below_the_array_is_guarded_from_below():
    assert "`if i + 1 >= 0:`" in fix("out-of-bounds", index=(-132,))


def test_shared_array_that_is_too_small_may_grow():
    assert fix("out-of-bounds", space="shared").startswith("make x larger")


def test_negative_index_message_explains_its_meaning():
    assert "counts from the end and means x[130]" in message("negative-index")


def test_negative_literal_index_is_fixed_by_counting_from_the_start():
    advice = fix("negative-index", what="p[i, -1]", index=(0, -1), shape=(4, 3), array="p")
    assert advice.startswith("write `p.shape[1] - 1`")
    assert "if -1" not in advice


def test_message_says_that_an_output_is_never_written():
    text = message("never-written", written=0)
    assert text == "No thread writes any of the 131 elements of out."


def test_partly_written_output_names_the_first_gap():
    assert "writes 100 of the 131 elements of out" in message("never-written")
    assert "out[100]" in message("never-written")


def test_divergent_barrier_names_waiting_and_missing_threads():
    text = message("barrier-divergence")
    assert "Threads 0-15 of block 2 wait" in text
    assert "threads 16-31 do not reach it" in text


def test_single_missing_thread_has_a_singular_verb():
    assert "thread 16 does not reach" in message("barrier-divergence", missing="16")


def test_mask_is_written_in_hexadecimal():
    assert "mask 0xffffffff, but lanes 16-31 do not take part" in message("warp-mask")


def test_message_says_that_the_caller_is_outside_its_own_mask():
    text = message("warp-mask", reason="caller", lanes=(5,), mask=0b11111)
    assert "mask 0x0000001f, which does not include the caller itself, lane 5" in text


def test_advice_for_an_invalid_launch_follows_from_the_reason():
    text, advice = describe("launch-refused", DETAILS["launch-refused"])
    assert text == "A GPU refuses this launch: a block of 2048 has too many threads."
    assert advice == "use smaller blocks"


def test_cooperative_launch_with_missing_blocks_names_them():
    text = message("cooperative-misuse", limit=None, missing="3-6")
    assert text.startswith("Blocks 3-6 do not reach `grid.sync()` in line 15")


@pytest.mark.parametrize(
    ("what", "reason", "expected"),
    [
        ("0.5", "literal", "`np.float32(0.5)`"),
        ("i / n", "division", "`np.float32(i) / np.float32(n)`"),
        ("math.sqrt(n)", "math", "`math.sqrt(np.float32(n))`"),
        ("x[i] * 0.5", "literal", "`np.float32(0.5)` instead of `0.5`"),
        ("x[", "literal", "`np.float32(0.5)` instead of `0.5`"),
    ],
)
def test_float64_is_fixed_in_the_expression_itself(what, reason, expected):
    assert expected in fix("float64", what=what, reason=reason)


def test_unknown_kind_raises():
    with pytest.raises(KeyError):
        describe("no-such-kind", {})
