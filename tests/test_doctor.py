"""`gpukit doctor`: each known fault, seeded in a sound machine, is found with its fix."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from gpukit import cuda, doctor
from gpukit.doctor import checks, facts, folders, gpu_facts
from gpukit.doctor.gpu_facts import Gpu, numbers
from gpukit.parallel import launcher, selection

SOUND = doctor.Machine()
H200 = Gpu("NVIDIA H200", (9, 0), 139.0)
K80 = Gpu("Tesla K80", (3, 7), 11.0)
WITH_CUDA = {**SOUND.packages, "numba-cuda": "0.30.4"}


def machine(**facts):
    return dataclasses.replace(SOUND, **facts)


def gpu(**facts):
    """Return a sound machine with a GPU."""
    usual = {
        "gpus": (H200,),
        "driver": "libcuda.so.1",
        "driver_status": 0,
        "packages": WITH_CUDA,
        "driver_cuda": (13, 0),
        "toolkit": (13, 0),
        "target": "cuda",
        "hardware_seen": True,
    }
    return machine(**{**usual, **facts})


def without(*names):
    return {k: v for k, v in SOUND.packages.items() if k not in names}


FAULTS = {
    "python-version": (machine(python=(3, 9, 2)), "python3.12 -m venv"),
    "python-bits": (machine(bits=32), "64-bit"),
    "python-free-threaded": (machine(free_threaded=True), "not python3.14t"),
    "python-translated": (machine(translated=True, system="Darwin"), "arm64"),
    "shadowed-package": (machine(shadows=("numba.py",)), "Rename: numba.py"),
    "numpy-missing": (machine(packages=without("numpy")), "pip install"),
    "numpy-old": (machine(packages={**SOUND.packages, "numpy": "1.26.4"}), "numpy>=2.0"),
    "numba-missing": (machine(packages=without("numba")), "numba>=0.68"),
    "numba-old": (machine(packages={**SOUND.packages, "numba": "0.60.0"}), "numba>=0.68"),
    "numba-import": (machine(numba_error="ImportError: Numba needs NumPy 2.4"), "numpy<2.5"),
    "numpy-with-numba-cuda": (
        gpu(packages={**WITH_CUDA, "numpy": "2.5.0"}),
        'pip install "numpy<2.5"',
    ),
    "target-name": (
        machine(environment={"GPUKIT_TARGET": "tpu"}, target_error="expected one of"),
        "unset GPUKIT_TARGET",
    ),
    "target-unavailable": (
        machine(environment={"GPUKIT_TARGET": "cuda"}, target_error="but no driver"),
        "unset GPUKIT_TARGET",
    ),
    "simulator-on": (machine(environment={"NUMBA_ENABLE_CUDASIM": "1"}), "NUMBA_ENABLE_CUDASIM"),
    "jit-off": (machine(environment={"NUMBA_DISABLE_JIT": "1"}), "unset NUMBA_DISABLE_JIT"),
    "optimiser-off": (machine(environment={"NUMBA_OPT": "0"}), "unset NUMBA_OPT"),
    "no-temporary-folder": (
        machine(temporary_error="No usable temporary directory found in ['/tmp']"),
        "export TMPDIR=",
    ),
    "cache-read-only": (
        machine(cache_folder="/c", cache_error="Permission denied"),
        "GPUKIT_CACHE_DIR",
    ),
    "driver-missing": (machine(hardware_seen=True), "nvidia-driver"),
    "driver-failing": (
        machine(hardware_seen=True, driver="libcuda.so.1", driver_status=803),
        "Restart",
    ),
    "gpus-hidden": (
        machine(driver="libcuda.so.1", driver_status=100, environment={"CUDA_VISIBLE_DEVICES": ""}),
        "unset CUDA_VISIBLE_DEVICES",
    ),
    "cuda-package-missing": (gpu(packages=SOUND.packages), "numba-cuda[cu13]"),
    "driver-older-than-toolkit": (gpu(driver_cuda=(12, 4)), "numba-cuda[cu12]"),
    "libraries-missing": (gpu(missing_libraries=("nvvm",), toolkit=None), "numba-cuda[cu13]"),
    "gpu-too-old": (gpu(gpus=(K80,)), "numba-cuda[cu12]"),
    "one-core": (machine(cores=1), "more cores"),
    "lab-missing": (machine(packages=without("matplotlib")), "pip install matplotlib"),
    "first-kernel": (machine(kernel_error="ValueError: no"), "gpukit doctor --json"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_seeded_fault_is_found_with_its_fix(name):
    faulty, fix = FAULTS[name]
    found = {finding.name: finding for finding in doctor.examine(faulty)}
    assert name in found
    assert fix in found[name].fix


@pytest.mark.parametrize("name", FAULTS)
def test_a_seeded_fault_causes_no_other_problem(name):
    faulty, _ = FAULTS[name]
    problems = {f.name for f in doctor.examine(faulty) if f.level == "problem"}
    assert problems <= {name}


def test_a_sound_laptop_has_no_findings():
    assert doctor.examine(SOUND) == []


def test_a_sound_machine_with_a_gpu_has_no_findings():
    assert doctor.examine(gpu()) == []


def test_a_driver_newer_than_the_toolkit_is_no_finding():
    assert doctor.examine(gpu(driver_cuda=(13, 1), toolkit=(12, 9))) == []


def test_an_old_driver_is_advised_to_use_the_matching_extra():
    (finding,) = doctor.examine(gpu(packages=SOUND.packages, driver_cuda=(12, 2), toolkit=None))
    assert "cu12" in finding.fix


def test_a_newer_toolkit_of_the_same_major_version_is_only_a_note():
    (finding,) = doctor.examine(gpu(driver_cuda=(13, 0), toolkit=(13, 1)))
    assert (finding.level, finding.fix) == ("note", "Install a newer NVIDIA driver.")


def test_problems_come_before_notes():
    both = machine(packages=without("matplotlib"), environment={"NUMBA_DISABLE_JIT": "1"})
    assert [finding.level for finding in doctor.examine(both)] == ["problem", "note"]


def test_the_advice_to_unset_a_variable_is_in_powershell_on_windows():
    on_windows = machine(system="Windows", environment={"NUMBA_DISABLE_JIT": "1"})
    (finding,) = doctor.examine(on_windows)
    assert finding.fix == "Remove-Item Env:NUMBA_DISABLE_JIT"


def test_the_advice_in_wsl_is_to_install_the_driver_on_windows():
    (finding,) = doctor.examine(machine(hardware_seen=True, in_wsl=True))
    assert "on Windows" in finding.fix


def test_every_check_finds_a_seeded_fault():
    silent = [
        check.__name__
        for check in checks.CHECKS
        if not any(check(faulty) for faulty, _ in FAULTS.values())
    ]
    assert silent == []


def test_every_check_has_a_docstring():
    assert all(check.__doc__ for check in checks.CHECKS)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2.5.0", (2, 5, 0)),
        ("2.5.0rc1", (2, 5, 0)),
        ("0.68", (0, 68)),
        ("", ()),
        ("x", ()),
        ("1.2.dev3", (1, 2)),
    ],
)
def test_a_version_is_read_up_to_its_last_number(text, found):
    assert numbers(text) == found


@pytest.mark.parametrize("wheel", ["nvidia-nvvm", "nvidia-cuda-nvcc-cu12"])
def test_the_compiler_is_found_in_the_wheel_of_either_cuda(monkeypatch, wheel):
    def version(name):
        if name in (wheel, "nvidia-cuda-nvrtc"):
            return "13.0.48"
        raise gpu_facts.importlib.metadata.PackageNotFoundError(name)

    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.setattr(gpu_facts.importlib.metadata, "version", version)
    assert gpu_facts.toolkit() == {"missing_libraries": (), "toolkit": (13, 0)}


def test_the_facts_of_this_machine_are_json_serialisable(monkeypatch):
    monkeypatch.setattr(facts, "_kernel_error", lambda: "")
    found = facts.look()
    assert found.packages["numba"]
    assert found.cores >= 1
    json.dumps(dataclasses.asdict(found))


def test_a_first_kernel_runs_on_this_machine():
    assert facts._kernel_error() == ""


def test_an_invalid_target_is_a_fact_and_not_a_crash(monkeypatch):
    from gpukit import target

    monkeypatch.setenv("GPUKIT_TARGET", "tpu")
    target.active.cache_clear()
    try:
        assert "got 'tpu'" in facts._target()["target_error"]
    finally:
        target.active.cache_clear()


def test_a_cache_that_cannot_be_written_is_a_fact(monkeypatch, tmp_path):
    def refuse(**_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(facts.tempfile, "TemporaryFile", refuse)
    assert facts._cache()[1] == "Permission denied"


# --- Folders -----------------------------------------------------------------------------------


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Caches of a kernel and of the checker, each with a file that is not gpukit's."""
    folder = tmp_path / "cache"
    checker = tmp_path / "cache-checker" / "0123456789abcdef"
    checker.mkdir(parents=True)
    folder.mkdir()
    (folder / ("0a" * 20)).write_bytes(b"12345")
    (folder / "thesis.txt").write_text("mine")
    (checker / "entries.nbi").write_bytes(b"123")
    (checker.parent / "thesis.txt").write_text("mine")
    monkeypatch.setenv("GPUKIT_CACHE_DIR", str(folder))
    monkeypatch.setattr(folders.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_folders_are_listed_with_the_files_of_gpukit(cache):
    kernels, checker, shown = folders.look()
    assert (kernels.path, kernels.files, kernels.bytes) == (str(cache / "cache"), 1, 5)
    assert (checker.path, checker.files, checker.bytes) == (str(cache / "cache-checker"), 1, 3)
    assert (shown.path, shown.files) == (str(cache), 0)


def test_folders_of_answers_and_pages_are_listed_and_are_no_caches(cache):
    answers = cache / "exercises"
    (answers / "01" / "relu").mkdir(parents=True)
    (answers / "01" / "relu" / "answer.py").write_text("mine")
    (cache / "gpukit-play").mkdir()
    found = {folder.path: folder for folder in folders.look(answers)}
    assert found[str(answers)].files == 1
    assert not found[str(answers)].cache
    assert not found[str(cache / "gpukit-play")].cache


def test_clear_removes_only_what_gpukit_has_cached(cache):
    (cache / "gpukit-abc.html").write_text("a page")
    removed = folders.clear()
    assert [(f.files, f.bytes) for f in removed] == [(1, 5), (1, 3), (1, 6)]
    left = sorted(str(p.relative_to(cache)) for p in cache.rglob("*") if p.is_file())
    assert left == ["cache-checker/thesis.txt", "cache/thesis.txt"]
    assert folders.clear() == []


def test_clear_removes_a_kernel_that_was_compiled(cache):
    @cuda.jit
    def nine_kernel(out):
        out[0] = 9

    nine_kernel[1, 1](np.zeros(1))
    assert folders.look()[0].files == 2
    folders.clear()
    assert [path.name for path in (cache / "cache").iterdir()] == ["thesis.txt"]


def test_a_user_without_a_home_has_no_cache_and_no_error(monkeypatch):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("GPUKIT_CACHE_DIR", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    assert facts._cache() == ("", "")


def test_facts_say_what_carries_messages_between_ranks(monkeypatch):
    monkeypatch.setattr(launcher, "mpiexec", lambda: "/opt/mpi/bin/mpiexec")
    assert facts._ranks() == (
        "single: no launcher started this process, so it is the only rank; `gpukit train` "
        "starts them with /opt/mpi/bin/mpiexec"
    )


def test_facts_say_what_ranks_need_that_is_not_installed(monkeypatch):
    monkeypatch.setattr(selection, "has", lambda _: False)
    monkeypatch.setattr(launcher.shutil, "which", lambda _: "/usr/bin/mpiexec")
    monkeypatch.setenv("PMI_SIZE", "2")
    words = facts._ranks()
    assert words.startswith("single: mpi4py is not installed. Install it, in your clone of gpukit:")
    assert "-e '.[parallel]'" in words
