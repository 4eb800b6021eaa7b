"""`gpukit.estimate` as it is called: launches, functions, GPUs, refusals, views."""

import json

import numpy as np
import pytest

import gpukit
from gpukit import cuda, errors, gpu_code
from gpukit.estimates import MACHINES, machine_code, published, refuse
from gpukit.kernels import convert
from gpukit.kernels.matmul import tensor_tf32
from tests.checked.html_page import Page
from tests.estimates import kernels

pytestmark = pytest.mark.cpu
N = 20_000


def floats(n=N):
    return np.ones(n, np.float32)


def added(gpu="RTX 3080", **options):
    return gpukit.estimate(kernels.add, gpu, **options)[157, 128](floats(), floats(), floats())


def both(a, b, out):
    kernels.add[157, 128](a, b, out)
    kernels.add[157, 128](out, b, out)


def test_an_estimate_says_what_limits_the_launch():
    found = added()
    assert 0 < found.floor < found.likely < found.worst
    assert found.bound == "launch overhead"
    assert (found.gpu, found.basis, found.refused) == ("RTX 3080", "source", "")


def test_several_gpus_give_a_row_each():
    found = added(["RTX 3080", "V100"])
    assert [one.gpu for one in found] == ["RTX 3080", "V100"]
    assert str(found).splitlines()[1].split()[:3] == ["add", "RTX", "3080"]


def test_a_function_is_the_sum_of_its_launches():
    found = gpukit.estimate(both)(floats(), floats(), floats())
    first, second = found.parts
    assert first.likely == added().likely
    assert found.likely == first.likely + second.likely
    assert found.floor == first.floor + second.floor


def test_a_function_on_several_gpus_gives_a_sum_each():
    found = gpukit.estimate(both, ["RTX 3080", "V100"])(floats(), floats(), floats())
    assert [(one.kernel, one.gpu) for one in found] == [("both", "RTX 3080"), ("both", "V100")]


def test_a_function_has_its_whole_effect():
    out = floats()
    gpukit.estimate(both)(floats(), floats(), out)
    assert (out == 3).all()


def test_arguments_are_unchanged_where_blocks_are_left_out():
    out = floats()
    gpukit.estimate(kernels.add)[157, 128](floats(), floats(), out)
    assert (out == 1).all()


def test_a_captured_device_array_is_counted_in_once():
    kernels.captured.copy_to_device(np.zeros(1, np.int32))
    gpukit.estimate(lambda: kernels.count_threads[100, 32]())()
    assert kernels.captured.copy_to_host()[0] == 3200


class Foreign:
    """An array of another library, which NumPy can read."""

    def __init__(self, array):
        self.array = array
        self.__array_interface__ = array.__array_interface__


def test_an_array_of_another_library_is_as_before_where_blocks_are_left_out():
    out = floats()
    gpukit.estimate(kernels.add)[157, 128](floats(), floats(), Foreign(out))
    assert (out == 1).all()


def test_records_are_as_before_where_blocks_are_left_out():
    pairs = np.ones(3, [("counts", np.int32), ("pair", np.float32, 2)])
    gpukit.estimate(kernels.take_turns)[157, 128](pairs[1], (pairs[2],))
    assert (pairs == np.ones(3, pairs.dtype)).all()


def test_an_estimate_compiles_no_other_form_of_a_kernel_than_a_profile():
    kernel, x = cuda.jit(kernels.add.py_func), floats()
    gpukit.profile(kernel)[157, 128](x, x, x)
    forms = set(kernel.launcher.compiled)
    gpukit.estimate(kernel)[157, 128](x, x, x)
    assert set(kernel.launcher.compiled) == forms


def test_help_names_the_next_limit_and_the_factor():
    a = np.ones((512, 512), np.float32)
    found = gpukit.estimate(kernels.matmul)[(32, 32), (16, 16)](a, a.copy(), a.copy())
    assert found.bound == "load/store units"
    assert "without this limit, 1." in found.help()


def test_help_is_silent_where_little_is_gained():
    x = np.ones(2**22, np.float32)
    found = gpukit.estimate(kernels.add, blocks=8)[2**14, 256](x, x.copy(), x.copy())
    assert found.bound == "DRAM"
    assert found.help() == "" or float(found.help().split()[3]) >= 1.2


def test_repeated_launches_find_a_small_array_in_l2():
    assert added(repeated=True).terms["DRAM"] == 0 < added().terms["DRAM"]


@pytest.mark.parametrize("gpu", ["RTX 9999", ["RTX 3080", "A6000"], []])
def test_an_unknown_gpu_is_an_error_that_names_the_known_ones(gpu):
    with pytest.raises(ValueError, match="estimate: expected"):
        gpukit.estimate(kernels.add, gpu)


def test_what_is_no_name_of_a_gpu_is_an_error_that_names_it():
    with pytest.raises(errors.ArgumentError, match=r"expected gpu to be a name.*got 3080\. "):
        gpukit.estimate(kernels.add, 3080)


@pytest.mark.parametrize("blocks", [0, -3, 1.5, "8", True])
def test_blocks_are_a_whole_number_of_1_or_more(blocks):
    with pytest.raises(errors.ArgumentError, match=f"estimate: expected blocks .*got {blocks!r}"):
        gpukit.estimate(kernels.add, blocks=blocks)


def test_a_gpu_is_found_in_any_spelling():
    assert added("rtx3080").gpu == "RTX 3080"


def test_tested_lists_the_published_tables_of_the_gpu():
    found = added().tested
    assert sum(one.times for one in found) == 13
    assert {one.gpu for one in found} == {"RTX 3080"}


def test_the_80_gb_a100_is_tested_by_the_40_gb_one():
    assert {one.gpu for one in published.tested(MACHINES["A100"])} == {"A100 40 GB"}


# ---- refusals and wide bands ---------------------------------------------------------------------


def refused(kernel, *arguments, gpu="RTX 3080", grid=4, block=64):
    found = gpukit.estimate(kernel, gpu)[grid, block](*arguments)
    assert found.likely is found.worst is None
    assert found.floor is not None
    assert "refused" in str(found)
    return found.refused


def test_a_gpu_without_published_times_has_the_floor_alone():
    arguments = floats(256), floats(256), floats(256)
    assert "no published times for the T4" in refused(kernels.add, *arguments, gpu="T4")


def test_a_random_gather_has_the_floor_alone():
    places = np.random.default_rng(5).permutation(256).astype(np.int32)
    words = refused(kernels.gather, places, floats(256), floats(256))
    assert "`x[places[i]]`" in words


def test_a_regular_gather_is_estimated():
    places = np.arange(256, dtype=np.int32)[::-1].copy()
    found = gpukit.estimate(kernels.gather)[4, 64](places, floats(256), floats(256))
    assert found.likely


def test_a_lock_has_the_floor_alone():
    words = refused(kernels.lock, np.zeros(1, np.int32), np.zeros(1, np.int32), grid=1, block=1)
    assert "locks" in words


def test_a_kernel_that_polls_a_flag_has_the_floor_alone():
    words = refused(kernels.poll, np.zeros(1, np.int32), np.zeros(100, np.int32), grid=100, block=1)
    assert words == "it waits for another thread"


def test_an_exchange_that_waits_for_nothing_needs_no_more_blocks_than_others():
    found = gpukit.estimate(kernels.swap_own)[100, 32](np.zeros(3200, np.int32))
    assert found.blocks_run == 32
    assert "locks" in found.refused


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (tensor_tf32.matmul_tensor_tf32_kernel, "it uses tensor cores"),
        (convert.convert_bfloat16_kernel, ""),  # of the same module, but an ordinary instruction
        (kernels.lock, "it compares and swaps, as locks do"),
    ],
)
def test_what_the_model_has_no_rates_for_is_found_in_the_kernel(kernel, words):
    assert refuse.unknown(kernel) == words


def test_a_block_that_fits_in_no_sm_has_no_times(monkeypatch):
    monkeypatch.setattr(machine_code, "of", lambda *_: {(8, 6): gpu_code.Code(255)})
    found = gpukit.estimate(kernels.add, sass=True)[2, 1024](floats(9), floats(9), floats(9))
    assert found.floor is found.likely is None
    assert found.refused == "an SM cannot hold a block of this launch"
    assert "floor   none; no likely time" in str(found)


def test_one_launch_without_a_likely_time_leaves_the_sum_without():
    def gathers(places, x, out):
        kernels.add[4, 64](x, x, out)
        kernels.gather[4, 64](places, x, out)

    places = np.random.default_rng(5).permutation(256).astype(np.int32)
    found = gpukit.estimate(gathers)(places, floats(256), floats(256))
    assert found.likely is None
    assert found.refused.startswith("gather: ")


@pytest.mark.parametrize(
    ("kernel", "arguments", "why"),
    [
        (kernels.sum_floats, lambda: [floats(), np.zeros(1, np.float32)], "atomics on floats"),
        (kernels.wave, lambda: [floats(), floats()], "many transcendental functions"),
        (kernels.add, lambda: [floats()] * 3, "the launch takes less than 10 us"),
    ],
)
def test_the_band_is_wide_and_says_why(kernel, arguments, why):
    found = gpukit.estimate(kernel)[157, 128](*arguments())
    assert why in found.wide
    assert "the band is wide" in str(found)


def one(kind=np.float32):
    return np.zeros(1, kind)


@pytest.mark.parametrize(
    ("kernel", "others"),
    [
        (kernels.sum_floats, lambda: [cuda.InOut(one())]),
        (kernels.sum_captured, list),
        (kernels.sum_in_a_tuple, lambda: [(one(np.int32), one())]),
        (kernels.sum_shared, lambda: [floats(256)]),
        (kernels.sum_in_a_record, lambda: [one([("total", np.float32), ("n", np.int32)])]),
    ],
)
def test_atomics_on_floats_are_found_wherever_the_array_is(kernel, others):
    assert "atomics on floats" in gpukit.estimate(kernel)[4, 64](floats(256), *others()).wide


def test_atomics_on_integers_beside_floats_do_not_widen_the_band():
    x = np.ones(256, np.int32)
    found = gpukit.estimate(kernels.sum_in_a_tuple)[4, 64](x, (floats(), one(np.int32)))
    assert "atomics on floats" not in found.wide


def test_few_warps_widen_the_band():
    found = gpukit.estimate(kernels.add)[2, 64](floats(128), floats(128), floats(128))
    assert "there are fewer warps than schedulers" in found.wide


# ---- views ---------------------------------------------------------------------------------------

ALWAYS = ("for this input only", "a cold L2", "the counters of the source", "Tested on 13 times")


@pytest.mark.parametrize("words", ALWAYS)
def test_every_view_says_what_an_estimate_rests_on(words):
    text = " ".join(str(added()).split())
    page = " ".join(Page(added()._repr_html_()).text.split())
    assert words in text
    assert words in page


@pytest.mark.parametrize("width", [30, 50, 80, 200])
def test_text_fits_its_width(width):
    for found in (added(), added(["RTX 3080", "A100", "T4"])):
        lines = found.text(width=width).splitlines()
        assert max(map(len, lines)) <= min(width, 80)


def test_json_has_the_times_in_seconds():
    found = added()
    data = json.loads(found.to_json())
    assert (data["likely"], data["gpu"]) == (found.likely, "RTX 3080")
    assert json.loads(added(["RTX 3080", "T4"]).to_json())[1]["likely"] is None


def test_keyword_arguments_of_a_kernel_are_refused():
    with pytest.raises(errors.ArgumentError, match="estimate: a kernel takes no keyword"):
        gpukit.estimate(kernels.add)[1, 32](a=floats())


def test_names_that_numpy_warns_about_are_not_asked_for():
    def named(x):
        return np.float32(2) if isinstance(x, str) else x

    assert refuse.unknown(named) == ""
