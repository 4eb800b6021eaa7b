"""The model of `gpukit.estimate`: its times grow with what a launch asks for."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpukit.estimates import gpus, model
from gpukit.estimates.model import Work

GROWING = sorted({k for k, kind in Work.__annotations__.items() if kind == "float"} | {"registers"})
WORKS = st.builds(
    Work,
    blocks=st.integers(1, 5000),
    threads=st.integers(1, 1024),
    shared_bytes=st.integers(0, 48 * 1024),
    registers=st.integers(0, 64),
    **{name: st.floats(0, 1e12) for name in GROWING if name != "registers"},
)
MACHINES = st.sampled_from(list(gpus.MACHINES.values()))
HUGE = Work(blocks=10**5, threads=256, footprint=1e9, block_footprint=1e9, global_requests=3e6)


def close_to_or_above(more, less):
    return more >= less * (1 - 1e-9)


@given(work=WORKS, machine=MACHINES, name=st.sampled_from(GROWING), more=st.floats(1, 1e12))
def test_more_of_anything_is_never_faster(work, machine, name, more):
    # Sectors that nothing was stored to before are part of the footprint, and stored.
    names = {"store_footprint": ("store_footprint", "stored", "footprint")}.get(name, (name,))
    more = 8 if name == "registers" else more
    grown = replace(work, **{name: getattr(work, name) + more for name in names})
    before, after = model.times(work, machine), model.times(grown, machine)
    for time in ("likely", "worst"):
        assert close_to_or_above(getattr(after, time), getattr(before, time)), time
    assert close_to_or_above(after.floor, before.floor)


@given(work=WORKS, machine=MACHINES, repeated=st.booleans())
def test_floor_likely_and_worst_are_in_this_order(work, machine, repeated):
    found = model.times(work, machine, repeated=repeated)
    assert 0 <= found.floor <= found.likely <= found.worst


@given(work=WORKS, machine=MACHINES)
def test_a_launch_without_its_limit_is_not_slower(work, machine):
    found = model.times(work, machine)
    without = model.times(work, machine, without=found.bound)
    assert without.likely <= found.likely * (1 + 1e-9)


@given(work=WORKS, machine=MACHINES)
def test_repeated_launches_are_not_slower_than_cold_ones(work, machine):
    assert model.times(work, machine, repeated=True).likely <= model.times(work, machine).likely


def test_streaming_is_limited_by_dram_at_nine_tenths_of_its_bandwidth():
    found = model.times(HUGE, gpus.find("RTX 3080"))
    assert found.bound == "DRAM"
    assert found.terms["DRAM"] == pytest.approx(1e9 / 760e9 / 0.9)


def test_load_store_units_serve_half_a_request_per_cycle_where_there_are_sixteen():
    machine = gpus.find("RTX 3080")
    found = model.cycles(Work(blocks=2, threads=32, global_requests=6, shared_requests=4), machine)
    assert found["load/store units"] == 10  # per block: 5 requests of 32 lanes on 16 units


def test_updates_of_one_address_take_a_cycle_each():
    work = Work(blocks=1000, threads=256, atomics=8000, contention=256_000)
    found = model.times(work, gpus.find("RTX 3080"))
    assert found.bound == "atomics on one address"
    assert found.terms[found.bound] == pytest.approx(256_000 / 1.725e9)


def test_a_single_warp_that_waits_is_limited_by_latency():
    work = Work(blocks=1, threads=32, global_loads=1000, global_requests=1000, trips=1000)
    assert model.times(work, gpus.find("RTX 3080")).bound == "latency"


def test_registers_lower_how_many_blocks_are_resident():
    machine, work = gpus.find("RTX 3080"), Work(blocks=1000, threads=256, registers=32)
    assert model.times(work, machine).resident == 6
    assert model.times(replace(work, registers=128), machine).resident == 2


@pytest.mark.parametrize("machine", gpus.MACHINES.values(), ids=str)
def test_every_gpu_has_all_figures(machine):
    rates = (machine.clock, machine.bandwidth, machine.l2, machine.l2_bytes, machine.float32)
    assert min(*rates, machine.load_store, machine.integer, machine.float64, machine.special) > 0
    assert not machine.like or machine.like in gpus.MACHINES
