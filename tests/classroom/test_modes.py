"""Which sandbox modes a machine allows, why it refuses the others, and how each starts Python."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from gpukit.classroom.sandbox import modes
from gpukit.errors import SandboxError


def test_without_a_way_to_isolate_nothing_is_graded(monkeypatch):
    monkeypatch.setattr(
        modes, "every", lambda: [modes.Mode("bubblewrap", "it is not there", "Fix.")]
    )
    with pytest.raises(SandboxError, match=r"bubblewrap: it is not there\. Fix\."):
        modes.find()


@pytest.mark.parametrize("name", ["", "none"])
def test_submissions_run_on_linux_only(name, monkeypatch):
    monkeypatch.setattr(modes.sys, "platform", "darwin")
    with pytest.raises(SandboxError, match="run on Linux only"):
        modes.find(name)


def test_an_unknown_mode_is_refused():
    with pytest.raises(SandboxError, match="--isolation: expected one of bubblewrap, landlock"):
        modes.find("docker")


def test_what_is_refused_says_what_to_do():
    assert all(mode.is_available or mode.fix for mode in modes.every())


def test_the_confinement_can_be_sent_as_json():
    confinement = modes.confinement(modes.Mode("landlock"), os.path)
    assert json.loads(json.dumps(vars(confinement)))["memory"] == confinement.memory


def finished(code, words=""):
    """Return what stands in for `subprocess.run` where bwrap ends like that."""
    return lambda *_, **__: subprocess.CompletedProcess([], code, "", words)


def refused(*_, **__):
    raise OSError("no such program")


# How a machine refuses a mode: what is changed in `modes`, and what is said then.
REFUSALS = {
    "bwrap is not there": ({"shutil.which": lambda _: None}, "bubblewrap: bwrap is not installed"),
    "bwrap does not start": ({"subprocess.run": refused}, "does not start (no such program)"),
    "no namespaces": (
        {"subprocess.run": finished(1, "setting up uid map: denied")},
        "bwrap is refused (setting up uid map: denied). Run: ",
    ),
    "bwrap says nothing": ({"subprocess.run": finished(1)}, "bwrap is refused (no message)"),
    "no Landlock": ({"landlock.version": lambda: 0}, "landlock: the kernel has no Landlock"),
    "no filter": (
        {"seccomp.column": lambda: None, "landlock.version": lambda: 5},
        "landlock: gpukit has no seccomp filter for ",
    ),
    "no root": ({"os.geteuid": lambda: 1000}, "user: only root can run processes as another user"),
    "no filter for another user": (
        {"seccomp.column": lambda: None, "os.geteuid": lambda: 0},
        "user: gpukit has no seccomp filter for ",
    ),
    "a hidden Python": (
        {"_is_for_all": lambda _: False, "os.geteuid": lambda: 0},
        "user: other users may not read ",
    ),
}


@pytest.mark.parametrize("how", REFUSALS)
def test_a_machine_that_refuses_a_mode_is_told_why_and_what_to_do(how, monkeypatch):
    changes, said = REFUSALS[how]
    for name, instead in changes.items():
        monkeypatch.setattr(f"gpukit.classroom.sandbox.modes.{name}", instead)
    assert said in modes.described(modes.every())


@pytest.mark.parametrize("name", ["bubblewrap", "landlock", "user"])
def test_each_mode_says_on_another_system_that_it_needs_linux(name, monkeypatch):
    monkeypatch.setattr(modes.sys, "platform", "darwin")
    mode = next(mode for mode in modes.every() if mode.name == name)
    assert not mode.is_available
    assert mode.fix


@pytest.mark.parametrize("root", [True, False])
def test_only_root_keeps_the_capabilities_to_become_another_user(root, monkeypatch):
    monkeypatch.setattr(modes.os, "geteuid", lambda: 0 if root else 1000)
    line = modes.command(modes.Mode("bubblewrap"), Path("/nowhere"))
    assert ("CAP_SETUID" in line) == root
    assert ("--unshare-user" in line) == (not root)
