"""The commands about this machine: doctor, bench, run."""

from __future__ import annotations

import argparse
import platform
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import gpukit
from gpukit.cli import FINDINGS, WELL, show

README = Path("README.md")  # of the folder that the command runs in


def _dots(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def doctor(arguments: argparse.Namespace) -> int:
    """Report what this machine is, which target it uses and why, and what is wrong."""
    from gpukit import doctor as doctor_

    if arguments.clear:
        return _clear(doctor_.folders.clear(), arguments.json)
    machine = doctor_.look()
    folders = doctor_.folders.look(_answers())
    findings = doctor_.examine(machine)
    problems = [finding for finding in findings if finding.level == "problem"]
    if arguments.json:
        show.data(
            {
                "gpukit": _version(),
                "machine": asdict(machine),
                "findings": [asdict(finding) for finding in findings],
                "folders": [asdict(folder) for folder in folders],
            }
        )
    else:
        _describe(machine)
        _say_folders(folders)
        for finding in findings:
            _finding(finding)
        _verdict(machine, problems, len(findings))
    return FINDINGS if problems else WELL


def _clear(removed: list[Any], as_json: bool) -> int:
    """Report what was removed from the caches."""
    if as_json:
        show.data({"removed": [asdict(folder) for folder in removed]})
        return WELL
    for folder in removed:
        show.paragraph(f"removed {_holding(folder)}: {folder.path}", indent="")
    if not removed:
        show.text("The caches are empty.")
    return WELL


def _answers() -> Path | None:
    """Return the folder of the answers, None on a machine where exercises cannot be read."""
    from gpukit import errors

    try:
        from gpukit.course import catalogue

        return catalogue.shelf()
    except (ImportError, OSError, errors.GpukitError):
        return None


def _say_folders(folders: list[Any]) -> None:
    show.text()
    show.text(show.paint("gpukit writes to", "strong"))
    for folder in folders:
        show.paragraph(f"{folder.path}: {_holding(folder)}")
    if any(folder.cache and folder.files for folder in folders):
        show.paragraph("`gpukit doctor --clear` empties the caches; it keeps answers and grades.")


def _holding(folder: Any) -> str:
    from gpukit.doctor import folders

    count = f"{folder.files} file{'' if folder.files == 1 else 's'}"
    kept = "cache, " if folder.cache else ""
    return f"{folder.holds} ({kept}{count}, {folders.size(folder.bytes)})"


def _version() -> str:
    return str(getattr(gpukit, "__version__", "unknown"))


def _describe(machine: Any) -> None:
    system = f"{machine.system} {machine.arch}{' (WSL)' if machine.in_wsl else ''}"
    rows = [
        ("gpukit", f"{_version()}, Python {_dots(machine.python)}"),
        ("machine", f"{system}, {machine.cores} core{'s' if machine.cores != 1 else ''}"),
        ("GPU", _gpus(machine)),
        ("target", f"{machine.target}: {machine.reason}" if machine.reason else "none is usable"),
        ("first kernel", _kernel(machine)),
    ]
    rows += [("ranks", machine.ranks)] if machine.ranks else []
    rows += [("isolation", machine.isolation)] if machine.isolation else []
    rows += [(name, version) for name, version in machine.packages.items()]
    rows += [(name, f"{value!r} (environment)") for name, value in machine.environment.items()]
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        show.entry(name.ljust(width), value)


def _gpus(machine: Any) -> str:
    if not machine.gpus:
        return "none available"
    names = ", ".join(
        f"{gpu.name} ({gpu.gigabytes:.0f} GiB, compute capability {_dots(gpu.capability)})"
        for gpu in machine.gpus
    )
    driver = f", driver supports CUDA {_dots(machine.driver_cuda)}" if machine.driver_cuda else ""
    return names + driver


def _kernel(machine: Any) -> str:
    if machine.kernel_error:
        return show.paint("fails", "bad")
    if machine.numba_error or machine.target_error:
        return "not tried"
    return show.paint("runs and returns the right result", "good")


def _finding(finding: Any) -> None:
    show.text()
    label = show.paint(finding.level, "bad" if finding.level == "problem" else "note")
    show.text(f"{label} {finding.name}")
    show.paragraph(finding.what)
    show.entry("  Fix it:", finding.fix, gap=" ")


def _verdict(machine: Any, problems: list[Any], found: int) -> None:
    show.text()
    if problems:
        count = len(problems)
        show.text(show.paint(f"{count} problem{'s' if count > 1 else ''} to fix.", "bad"))
        return
    notes = f" {found} note{'s' if found > 1 else ''} above." if found else ""
    show.text(show.paint(f"All good: kernels run on the {machine.target} target.", "good") + notes)


def run(arguments: argparse.Namespace) -> int:
    """Run a user's script on gpukit; its exit code is ours."""
    from gpukit import errors
    from gpukit.standin import script

    try:
        return script.run(arguments.script, arguments.arguments, module=arguments.module).code
    except errors.GpukitError:
        raise
    except Exception as error:
        show.traceback_from(error)
        return FINDINGS


def bench(arguments: argparse.Namespace) -> int:
    """Time every kernel against NumPy, after checking its results."""
    from gpukit import target
    from gpukit.bench import (
        cases,
        ceilings,
        estimated,
        gpu,
        launches,
        readme_table,
        recorded,
        report,
        simulator,
        timing,
    )

    beside = estimated.asked_for(arguments.gpu)
    if arguments.simulator:  # before anything is timed
        simulator.check_target()
    if arguments.plot:
        _plots().check(arguments.plot)
    if arguments.write:
        readme_table.check(README)
    chosen = cases.choose(arguments.names or (["matmul"] if arguments.write else []))
    budget = arguments.seconds or (0.1 if arguments.quick else 1.0)
    machine = ceilings.measure()
    events = gpu.Events() if target.active().name == "cuda" else None
    results: list[timing.Result] = []
    times: dict[str, estimated.GpuTime] = {}
    with show.progress(len(chosen), quiet=arguments.json) as step:
        for name in chosen:
            step(name)
            make = partial(cases.make, name, quick=arguments.quick)
            comparison = make()
            result = timing.run(comparison, budget)
            if events is not None and result.right:
                spreads, failed = gpu.measure(comparison, events, budget)
                result = replace(result, gpu=spreads, failed=failed)
            results.append(result)
            if beside and (time := launches.gpu_time(make, beside)):
                times[name] = time
    wrong = [result for result in results if not result.right]
    simulated = _simulated(chosen) if arguments.simulator else []
    if arguments.json:
        found = report.as_json(results, target.active(), platform.machine(), machine)
        for one in found["results"]:
            one["gpu_time"] = times[one["name"]].as_dict() if one["name"] in times else None
        if simulated:
            found["simulator"] = [one._asdict() for one in simulated]
        show.data(found)
    else:
        show.paragraph(report.heading(target.active()), indent="")
        show.text()
        headers, rows = report.table(results, machine)
        right = tuple(range(2, len(headers)))
        if times:
            headers.append(estimated.heading(list(times.values())))
            for cells in rows:
                cells.append(times[cells[0]].cell if cells[0] in times else "-")
        show.table(headers, rows, right=right)
        notes = [*report.notes(results), *recorded.notes(results)]
        for line in ["", report.ceiling(machine), *notes]:
            show.paragraph(line, indent="")
        if simulated:
            show.text()
            headers, rows = simulator.table(simulated)
            show.table(headers, rows, right=(1, 2, 3, 4))
    if arguments.plot:
        _plots().save(_plots().measured(results, machine), arguments.plot)
    if arguments.write:
        device = gpu.device_name() if events is not None else ""
        readme_table.write(README, results, readme_table.machine(target.active().name, device))
    return FINDINGS if wrong else WELL


def _simulated(chosen: list[str]) -> list[Any]:
    """Return the times of Numba's simulator for each kernel, one after the other."""
    from gpukit.bench import simulator

    found = []
    with show.progress(len(chosen)) as step:
        for name in chosen:
            step(f"Numba's simulator, up to {simulator.SECONDS:.0f} s: {name}")
            found.append(simulator.run(name))
    return found


def _plots() -> Any:
    """Return the module that draws, where matplotlib is installed."""
    from gpukit.bench.register import BenchError

    try:
        from gpukit.draw import timings
    except ImportError as missing:
        raise BenchError(
            "bench: expected matplotlib for --plot, got none. Install it: pip install matplotlib."
        ) from missing
    return timings
