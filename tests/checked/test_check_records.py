"""Records under the checker: accesses are tracked per byte, however a field is reached."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda

N = 8
PAIR = np.dtype([("a", np.int32), ("b", np.int32)])
REC = np.dtype(
    [
        ("id", np.int64),
        ("props", (np.float32, 6)),
        ("pair", PAIR),
        ("pairs", (PAIR, 2)),
        ("matrix", (np.float32, (2, 2))),
    ],
    align=True,
)


@cuda.jit
def array_field(source, target, i_of):
    i = cuda.grid(1)
    target[i_of[i]]["props"] = source[i]["props"]


@cuda.jit
def array_attribute(source, target, i_of):
    i = cuda.grid(1)
    target[i_of[i]].props = source[i].props


@cuda.jit
def named_record(source, target, i_of):
    i = cuda.grid(1)
    mine = target[i_of[i]]
    mine.props = source[i].props


@cuda.jit
def record_of_a_branch(source, target, i_of):
    i = cuda.grid(1)
    mine = target[0]
    if i >= 0:
        mine = target[i_of[i]]
    mine.id = source[i].id


@cuda.jit
def record_of_a_loop(source, target, i_of):
    i = cuda.grid(1)
    for k in range(i, i + 1):
        mine = target[i_of[k]]
        mine["id"] = source[k]["id"]


@cuda.jit
def all_of_a_field(source, target, i_of):
    i = cuda.grid(1)
    target[i_of[i]].props[:] = source[i].id


@cuda.jit
def row_of_a_field(source, target, i_of):
    i = cuda.grid(1)
    target.props[i_of[i], :] = source[i].id


@cuda.jit
def row_of_a_named_field(source, target, i_of):
    i = cuda.grid(1)
    target["props"][i_of[i]] = source[i].id


@cuda.jit
def whole_record(source, target, i_of):
    i = cuda.grid(1)
    target[i_of[i]] = source[i]


@cuda.jit
def one_record_of_a_slice(source, target, i_of):
    i = cuda.grid(1)
    target[i_of[i] : i_of[i] + 1] = source[i]


@cuda.jit
def inner_record(source, target, i_of):
    i = cuda.grid(1)
    target[i_of[i]].pair = source[i].pair


@cuda.jit
def field_of_an_inner_record(source, target, i_of):
    i = cuda.grid(1)
    inner = target[i_of[i]].pair
    inner.a = source[i]["pair"]["b"]


@cuda.jit
def inner_records(source, target, i_of):
    i = cuda.grid(1)
    target[i_of[i]]["pairs"] = source[i]["pairs"]


@cuda.jit
def one_of_inner_records(source, target, i_of):
    i = cuda.grid(1)
    target[i_of[i]].pairs[1] = source[i].pairs[0]


@cuda.jit
def matrix_field(source, target, i_of):
    i = cuda.grid(1)
    target[i_of[i]].matrix = source[i].matrix


@cuda.jit
def two_fields_at_once(source, target, i_of):
    i = cuda.grid(1)
    mine = target[i_of[i]]
    mine.id, mine.pair.a = source[i].id, 3


@cuda.jit(device=True)
def set_props(record, props):
    record.props = props


@cuda.jit
def by_a_device_function(source, target, i_of):
    i = cuda.grid(1)
    set_props(target[i_of[i]], source[i].props)


# Kernels with the fields of an 80-byte record that they write, and the sizes of these.
PROPS, ID, PAIR_, PAIRS, MATRIX = (
    ("props", 24),
    ("id", 8),
    ("pair", 8),
    ("pairs", 16),
    ("matrix", 16),
)
STORES = {
    array_field: [PROPS],
    array_attribute: [PROPS],
    named_record: [PROPS],
    record_of_a_branch: [ID],
    record_of_a_loop: [ID],
    all_of_a_field: [PROPS],
    row_of_a_field: [PROPS],
    row_of_a_named_field: [PROPS],
    whole_record: [ID, PROPS, PAIR_, PAIRS, MATRIX],
    one_record_of_a_slice: [ID, PROPS, PAIR_, PAIRS, MATRIX],
    inner_record: [PAIR_],
    inner_records: [PAIRS],
    matrix_field: [MATRIX],
    by_a_device_function: [PROPS],
}
PARTS = {field_of_an_inner_record: 4, one_of_inner_records: 8, two_fields_at_once: 12}
ALL = [*STORES, *PARTS]


def name(kernel):
    return kernel.py_func.__name__


def records(seed):
    whole = np.random.default_rng(seed).integers(1, 100, N * REC.itemsize // 4, dtype=np.int32)
    return whole.view(REC)


def launched(run, kernel, i_of=None, target=None):
    places = np.arange(N) if i_of is None else i_of
    target = records(2) if target is None else target
    return run(kernel)[1, N](records(1), target, places)


@pytest.mark.parametrize("kernel", ALL, ids=name)
@pytest.mark.costly
def test_store_through_a_record_has_no_findings_when_each_thread_has_its_own(kernel):
    assert launched(gpukit.check, kernel).findings == []


@pytest.mark.parametrize("kernel", ALL, ids=name)
def test_store_through_a_record_is_a_race_when_two_threads_have_the_same(kernel):
    i_of = np.arange(N)
    i_of[5] = 2
    found = launched(gpukit.check, kernel, i_of).findings
    races = [f for f in found if f.kind in ("global-race", "warp-race", "same-value-race")]
    assert {(f.array, f.index) for f in races} == {("target", (2,))}


@pytest.mark.parametrize("kernel", ALL, ids=name)
@pytest.mark.costly
def test_store_through_a_record_gives_the_results_of_a_plain_launch(kernel):
    plain, checked = records(2), records(2)
    kernel[1, N](records(1), plain, np.arange(N))
    launched(gpukit.check, kernel, target=checked)
    assert plain.tobytes() == checked.tobytes()


@cuda.jit
def read_field_kernel(target, out, which):
    i = cuda.grid(1)
    if which == 0:
        out[i] = target[i].id
    elif which == 1:
        for k in range(6):
            out[i] += target[i].props[k]
    elif which == 2:
        out[i] = target[i].pair.a + target[i].pair.b
    elif which == 3:
        for k in range(2):
            out[i] += target[i].pairs[k].a + target[i].pairs[k].b
    else:
        for k in range(4):
            out[i] += target[i].matrix[k // 2, k % 2]


@pytest.mark.parametrize("kernel", STORES, ids=name)
@pytest.mark.costly
def test_field_is_initialised_exactly_when_it_was_stored(kernel):
    unset = []
    for which, field in enumerate(REC.names):
        target = cuda.device_array(N, REC)
        launched(gpukit.check, kernel, target=target)
        found = gpukit.check(read_field_kernel)[1, N](target, np.zeros(N), which).findings
        assert {f.kind for f in found} <= {"uninitialised-global"}
        unset += [field] if found else []
    assert unset == [n for n in REC.names if n not in [field for field, _ in STORES[kernel]]]


@pytest.mark.parametrize("kernel", ALL, ids=name)
@pytest.mark.costly
def test_store_through_a_record_counts_the_bytes_written(kernel):
    wanted = PARTS.get(kernel) or (
        REC.itemsize if len(STORES[kernel]) > 3 else sum(n for _, n in STORES[kernel])
    )
    accesses = launched(gpukit.profile, kernel).accesses
    written = [a.counts["global_bytes_asked"] for a in accesses if a.op == "store"]
    assert sum(written) == N * wanted


@cuda.jit
def pair_of_unset_kernel(out):
    pairs = cuda.local.array(1, PAIR_TYPE)
    pairs[0].a = cuda.threadIdx.x
    out[cuda.threadIdx.x] = pairs[0]


@cuda.jit
def pair_kernel(out):
    pairs = cuda.local.array(1, PAIR_TYPE)
    pairs[0].a = cuda.threadIdx.x
    pairs[0].b = 2
    out[cuda.threadIdx.x] = pairs[0]


@cuda.jit
def padded_kernel(out):
    records = cuda.local.array(1, PADDED_TYPE)
    records[0].flag = cuda.threadIdx.x
    records[0].value = 2
    out[cuda.threadIdx.x] = records[0]


PAIR_TYPE = PAIR
PADDED_TYPE = np.dtype([("flag", np.int8), ("value", np.float64)], align=True)


def test_copying_a_record_reads_all_fields():
    found = gpukit.check(pair_of_unset_kernel)[1, N](np.zeros(N, PAIR)).findings
    assert [f.kind for f in found] == ["uninitialised-local"]


@pytest.mark.parametrize(("kernel", "dtype"), [(pair_kernel, PAIR), (padded_kernel, PADDED_TYPE)])
def test_initialised_record_can_be_copied_despite_uninitialised_padding(kernel, dtype):
    assert gpukit.check(kernel)[1, N](np.zeros(N, dtype)).findings == []
