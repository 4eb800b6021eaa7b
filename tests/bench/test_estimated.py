"""The GPU's time beside a timing: whose GPU, what replaces an estimate, and what it may cost."""

import json
import re

import numpy as np
import pytest

import gpukit
from gpukit import cuda, errors, estimates, gpu_code, launch, status, target
from gpukit.bench import choose_gpu, estimated, recorded
from gpukit.estimates import MACHINES, gpus, machine_code
from tests.estimates import kernels

pytestmark = pytest.mark.cpu
N = 20_000


@pytest.fixture(autouse=True)
def afresh(monkeypatch, tmp_path):
    """No choice, no cached estimates, no recorded times."""
    monkeypatch.delenv(gpus.VARIABLE, raising=False)
    monkeypatch.setattr(estimated, "_Choice", type("_Choice", (), {"limit": 2.0}))
    monkeypatch.setattr(gpus, "_Choice", type("_Choice", (), {"name": ""}))
    monkeypatch.setattr(estimated, "_found", {})
    monkeypatch.setattr(estimated, "_table", estimated._Table())
    records(monkeypatch, tmp_path)


def records(monkeypatch, tmp_path, *gpu):
    file = tmp_path / f"records{len(gpu)}.json"
    file.write_text(json.dumps({"gpu": list(gpu), "cpu": []}))
    monkeypatch.setattr(recorded, "RECORDS", file)


def add(n=N):
    x = np.ones(n, np.float32)
    kernels.add[-(-n // 128), 128](x, x, np.empty(n, np.float32))


def counted(monkeypatch):
    """Return a list that grows with each launch that is estimated."""
    made, before = [], estimates.estimating

    def counting(names, **options):
        made.append(names)
        return before(names, **options)

    monkeypatch.setattr(estimates, "estimating", counting)
    return made


# ---- the reader's GPU -------------------------------------------------------------------------


def test_without_a_choice_the_gpu_is_an_rtx_3080():
    assert gpus.chosen() == "RTX 3080"


def test_a_variable_of_the_environment_chooses(monkeypatch):
    monkeypatch.setenv("GPUKIT_GPU", "rtx 3060laptop")
    assert gpus.chosen() == "RTX 3060 Laptop"


def test_a_call_chooses_and_overrides_the_variable(monkeypatch):
    monkeypatch.setenv("GPUKIT_GPU", "V100")
    choose_gpu("gtx1650")
    assert gpus.chosen() == "GTX 1650"


def test_an_unknown_gpu_is_refused_with_a_close_one_and_the_list():
    with pytest.raises(errors.GpukitError) as refused:
        choose_gpu("RTX 3061")
    assert "choose_gpu: expected a GPU, got 'RTX 3061'. Did you mean 'RTX 3060'?" in str(
        refused.value
    )
    assert str(refused.value).endswith(f"Available: {', '.join(MACHINES)}.")
    assert gpus.chosen() == "RTX 3080"


# ---- what a cell says -------------------------------------------------------------------------


def test_a_cell_has_the_likely_time_and_the_band():
    found = estimated.time_of(add)
    one = gpukit.estimate(add)()
    assert found.estimate.likely == one.likely
    low, likely, high = (estimated.short(t) for t in (one.floor, one.likely, one.worst))
    assert found.cell == f"{likely} ({low.removesuffix(' us')} to {high.removesuffix(' us')})"
    assert found.line == f"RTX 3080, estimated: likely {likely} (floor {low}, worst {high})"
    assert estimated.heading([found, None]) == "estimated, RTX 3080"


def test_a_gpu_without_published_times_has_its_floor_and_the_reason():
    found = estimated.time_of(add, "T4")
    assert found.cell.startswith("at least ")
    assert "no published times" in found.cell


def test_a_reason_is_said_without_kernels_and_code():
    x, places = np.ones(32768, np.float32), np.random.default_rng(1).permutation(32768)

    def both():
        add(32768)
        kernels.gather[256, 128](places, x, np.empty(32768, np.float32))

    cell = estimated.time_of(both).cell
    assert re.fullmatch(r"at least [\d.]+ us: line \d+ gathers or scatters at random", cell)


def test_a_kernel_that_the_model_has_no_rate_for_is_not_counted(monkeypatch):
    made = counted(monkeypatch)
    a = np.ones((16, 16), np.float32)
    found = estimated.time_of(lambda: gpukit.matmul(a, a, variant="tensor_tf32"))
    assert found.cell == "none: it uses tensor cores"
    assert made == []


def test_a_work_without_launches_has_no_time():
    assert estimated.time_of(lambda: np.ones(3)) is None


def test_where_kernels_run_on_a_gpu_there_is_no_estimate(monkeypatch):
    cuda = type("Target", (), {"name": "cuda"})
    monkeypatch.setattr(estimated.target, "active", lambda: cuda)
    assert estimated.time_of(lambda: pytest.fail("it ran")) is None


def test_an_error_of_a_launch_is_the_reason():
    x, out = np.ones(3, np.float32), np.ones(32, np.float32)
    found = estimated.time_of(lambda: kernels.every[1, 32](1, x, out))
    assert "every" in found.why
    assert "\n" not in found.cell


# ---- recorded times ---------------------------------------------------------------------------

H200 = {"device": "NVIDIA H200", "kernel": "vector_add", "size": "1,000", "seconds": 5e-6, "of": {}}


def add_of_the_book():
    x = np.ones(N, np.float32)
    gpukit.vector_add(x, x)


def test_a_recorded_time_of_the_same_gpu_replaces_the_estimate(monkeypatch, tmp_path):
    records(monkeypatch, tmp_path, H200)
    found = estimated.time_of(add_of_the_book, "H200")
    assert found.cell == "recorded 5 us at 1,000"
    assert found.line == "H200, recorded 5 us at 1,000"
    assert estimated.heading([found]) == "recorded, H200"


def test_a_recorded_time_of_another_gpu_does_not(monkeypatch, tmp_path):
    records(monkeypatch, tmp_path, H200)
    assert estimated.time_of(add_of_the_book, "V100").record is None


@cuda.jit
def vector_add_kernel(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] * 2


@cuda.jit
def fill(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[0]


def test_a_readers_kernel_of_the_same_name_has_no_recorded_time(monkeypatch, tmp_path):
    records(monkeypatch, tmp_path, H200)
    x = np.ones(N, np.float32)
    found = estimated.time_of(lambda: vector_add_kernel[157, 128](x, x), "H200")
    assert (found.record, found.kernel) == (None, "")


def test_a_readers_kernel_called_fill_is_a_kernel_like_others(monkeypatch, tmp_path):
    records(monkeypatch, tmp_path, H200)

    def both():
        add_of_the_book()
        fill[1, 32](np.ones(1, np.float32), np.ones(32, np.float32))

    assert estimated.time_of(both, "H200").record is None


def test_a_kernel_that_prepares_the_result_does_not_hide_the_recorded_time(monkeypatch, tmp_path):
    records(monkeypatch, tmp_path, H200 | {"kernel": "histogram_atomic"})
    x = np.ones(N, np.int32)
    found = estimated.time_of(lambda: gpukit.bincount(x, 4, variant="atomic"), "H200")
    assert found.record.kernel == "histogram_atomic"


def test_a_kernel_is_not_replaced_in_a_work_with_another_kernel(monkeypatch, tmp_path):
    records(monkeypatch, tmp_path, H200)

    def both():
        add_of_the_book()
        kernels.every[1, 32](1, np.ones(32, np.float32), np.ones(32, np.float32))

    assert estimated.time_of(both, "H200").record is None


# ---- cost -------------------------------------------------------------------------------------


def test_no_compiler_of_nvidia_is_waited_for(monkeypatch):
    monkeypatch.setattr(machine_code, "available", lambda: True)
    monkeypatch.setattr(gpu_code, "build", lambda *_: pytest.fail("it was called"))
    assert estimated.time_of(add).estimate.basis == "source"


def test_the_same_launch_is_counted_once(monkeypatch):
    made = counted(monkeypatch)
    first, second = estimated.time_of(add), estimated.time_of(add)
    assert len(made) == 1
    assert first.estimate.likely == second.estimate.likely


def test_other_shapes_and_gpus_are_counted_anew(monkeypatch):
    made = counted(monkeypatch)
    for n, gpu in ((N, "V100"), (N + 1, "V100"), (N, "RTX 3080")):
        estimated.time_of(lambda n=n: add(n), gpu)
    assert len(made) == 3


def test_other_indices_are_counted_anew(monkeypatch):
    made = counted(monkeypatch)
    x, out = np.ones(256, np.float32), np.empty(256, np.float32)
    for places in (np.arange(256), np.arange(256)[::-1].copy()):
        estimated.time_of(lambda places=places: kernels.gather[2, 128](places, x, out))
    assert len(made) == 2


def test_a_table_counts_no_more_when_its_time_is_over(monkeypatch):
    made = counted(monkeypatch)
    estimated._table.spent, estimated._table.last = 2.0, 99.5
    found = estimated.time_of(add, began=100.0)
    assert (made, found.why) == ([], "not counted within 2 s; see bench.choose_gpu")


def test_a_work_that_has_begun_is_counted_to_its_end(monkeypatch):
    monkeypatch.setattr(estimated._Choice, "limit", 1e-9)

    def both():
        add(N)
        add(N + 1)

    assert estimated.time_of(both, began=100.0).estimate
    assert estimated.time_of(lambda: add(N + 2), began=100.0).why.startswith("not counted")


def test_the_next_table_has_its_own_time(monkeypatch):
    made = counted(monkeypatch)
    estimated._table.spent, estimated._table.last = 2.0, 99.5
    assert estimated.time_of(add, began=100.5 + estimated.APART).estimate
    assert len(made) == 1


def test_the_next_cell_of_a_notebook_has_its_own_time(monkeypatch):
    estimated._table.spent, estimated._table.last = 2.0, 99.5
    monkeypatch.setattr(status, "cell", lambda: 7)
    assert estimated.time_of(add, began=100.0).estimate


def test_a_kernel_without_a_rate_is_named_even_when_the_time_is_over():
    estimated._table.spent, estimated._table.last = 2.0, 99.5
    a = np.ones((16, 16), np.float32)

    def both():
        add()
        gpukit.matmul(a, a, variant="tensor_tf32")

    assert estimated.time_of(both, began=100.0).why == "it uses tensor cores"


def test_the_reader_allows_more_time(monkeypatch):
    choose_gpu("V100", seconds=60)
    estimated._table.spent, estimated._table.last = 50.0, 99.5
    assert estimated.time_of(add, began=100.0).estimate


def test_a_launch_has_its_whole_effect():
    x = np.ones(N, np.float32)
    for _ in range(2):
        out = np.zeros(N, np.float32)
        estimated.time_of(lambda out=out: kernels.add[-(-N // 128), 128](x, x, out))
        assert (out == 2).all()


def test_a_kernel_that_strides_has_the_grid_of_the_gpu():
    x = np.ones(10_000_000, np.float32)
    found = estimated.time_of(lambda: gpukit.sum(x, variant="shuffle"), "RTX 3080")
    made = MACHINES["RTX 3080"].gpu
    (only,) = found.estimate.parts
    assert only.grid[0] * only.block[0] == made.sms * made.warps_per_sm * made.warp


def test_the_machine_s_own_grid_is_back_afterwards():
    before = launch.resident_blocks(256)
    with target.planned_for(target.Limits(7, 512, 0)):
        assert launch.resident_blocks(256) == 14
    assert launch.resident_blocks(256) == before
