"""From machine code (SASS) to work: registers and instructions as NVIDIA's compilers generate them.

Machine code has no counts, and the source has no instructions; lines join them. How often the code
of a line runs is what the source counts of its accesses and barriers, divided by those in its
machine code: a loop that is unrolled by four has four, in a quarter of the rounds. The others of
a loop run as often as those, and what lies outside of loops runs once per warp.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gpukit import gpu_code
from gpukit.checked.profile.source import Place
from gpukit.estimates.gpus import Machine
from gpukit.estimates.model import Work
from gpukit.gpu_code import child, sass
from gpukit.gpu_code.sass import Instruction

if TYPE_CHECKING:
    from gpukit.checked.profile import Profile

WARP, WORD = 32, 4
Body = tuple[int, int] | None  # first and last address of a loop; None outside of loops
_MEMORY = {"LDG": ("global", "load"), "STG": ("global", "store"), "LDS": ("shared", "load")}
_MEMORY |= {"STS": ("shared", "store"), "RED": ("global", "atomic"), "ATOMG": ("global", "atomic")}
_MEMORY["ATOMS"] = ("shared", "atomic")


def available() -> bool:
    """Tell whether NVIDIA's compilers and nvdisasm are installed."""
    return not gpu_code.missing() and child.disassembler() is not None


def of(profile: Profile, machines: Sequence[Machine]) -> dict[tuple[int, int], gpu_code.Code]:
    """Return the code of a profiled kernel for GPUs, by compute capability.

    The compilers may have none for some of them.
    """
    if profile.remembered is None:
        return {}
    capabilities = list(dict.fromkeys(machine.gpu.capability for machine in machines))
    remembered = profile.remembered
    found = gpu_code.build(remembered.kernel, remembered.arguments, capabilities)
    return {asked: code for asked, code in found.items() if code.registers and code.sass}


def refused(code: gpu_code.Code) -> str:
    """Return why code has no likely time; "" if it has one."""
    if code.spilled:
        return f"it spills registers ({code.spilled} bytes per thread)"
    return "its local arrays lie in memory, not in registers" if code.stack else ""


def refined(work: Work, profile: Profile, code: gpu_code.Code) -> Work:
    """Return the work of a launch with the registers and instructions of its machine code."""
    scale = profile.blocks / profile.blocks_run
    # Machine code has absolute names of files, a profile those by which they were compiled.
    files = {str(Path(at.file).absolute()): at.file for at in profile.lines}
    parsed = sass.parse(code.sass)
    instructions = [replace(one, file=files.get(one.file, one.file)) for one in parsed]
    kinds: dict[str, float] = defaultdict(float)
    for one, times in zip(instructions, runs(profile, instructions), strict=True):
        for kind in ("all", *_kinds(one)):
            kinds[kind] += scale * times
    merged = min(1.0, kinds["shared"] / max(_shared(profile, "requests"), 1))
    wide = min(1.0, kinds["LDG"] / work.global_loads) if work.global_loads else 1.0
    return replace(
        work,
        registers=code.registers or 0,
        global_loads=kinds["LDG"],
        global_requests=kinds["global"],
        lines=max(work.lines * wide, kinds["global"]),
        shared_loads=kinds["LDS"],
        shared_requests=kinds["shared"],
        wavefronts=max(kinds["shared"], merged * _shared(profile, "wavefronts")),
        instructions=kinds["all"],
        float32=kinds["float32"],
        float64=kinds["double"],
        integer=kinds["integer"],
        special=kinds["special"],
        merged=1,
    )


def _kinds(one: Instruction) -> list[str]:
    """Return the resources of an instruction. Integer multiply-adds use the lanes of float32."""
    name, group = one.opcode.partition(".")[0], sass.group_of(one.opcode)
    if name == "MUFU":
        return ["special"]
    if group in ("FFMA", "float32", "half") or name == "IMAD":
        return ["float32"]
    return [group, name]


def _shared(profile: Profile, what: str) -> float:
    names = (f"shared_{op}_{what}" for op in ("load", "store", "atomic"))
    return profile.blocks / profile.blocks_run * sum(profile.total.values.get(n, 0) for n in names)


def runs(profile: Profile, instructions: Sequence[Instruction]) -> list[float]:
    """Return how often warps run each instruction, in the blocks that were counted."""
    bodies = [_body(one, instructions) for one in instructions]
    ratios = _ratios(profile, instructions, bodies)
    of_body: dict[Body, float] = defaultdict(float)
    for (_, body), ratio in ratios.items():
        of_body[body] = max(of_body[body], ratio)
    x, y, z = profile.block
    once = float(profile.blocks_run * -(-x * y * z // WARP))
    pairs = list(zip(instructions, bodies, strict=True))
    main = {_place(one) for one, body in pairs if body is not None and body in of_body}
    found = []
    for one, body in pairs:
        counts = profile.lines.get(_place(one))
        steps = float(counts.values.get("warp_steps", once)) if counts else once
        if (_place(one), body) in ratios:
            found.append(ratios[_place(one), body])
        elif body is not None and body in of_body:
            found.append(of_body[body])
        else:  # the rest of an unrolled loop, or a loop that nothing is known of
            found.append(min(steps, once) if body is None or _place(one) in main else steps)
    return found


def _place(one: Instruction) -> Place:
    return Place(one.file, one.line)


def _body(one: Instruction, instructions: Sequence[Instruction]) -> Body:
    """Return the first and last address of the innermost loop around an instruction."""
    around = [
        (back.target, back.address)
        for back in instructions
        if back.target is not None and back.target <= one.address <= back.address
    ]
    return min(around, key=lambda body: body[1] - body[0], default=None)


def _ratios(
    profile: Profile, instructions: Sequence[Instruction], bodies: Sequence[Body]
) -> dict[tuple[Place, Body], float]:
    """Return how often a line runs in the loop that has most of its accesses, by line and loop."""
    places: dict[Place, dict[Body, list[Instruction]]] = defaultdict(lambda: defaultdict(list))
    for one, body in zip(instructions, bodies, strict=True):
        places[_place(one)][body].append(one)
    found: dict[tuple[Place, Body], float] = {}
    for place in places.keys() & profile.lines.keys():
        counts = profile.lines[place].values
        for counted, weights in _anchors(profile, place):
            static = {
                body: sum(weights(one) for one in ones) for body, ones in places[place].items()
            }
            most = max(static, key=lambda body: (static[body], body is not None))
            if counts.get(counted) and static[most]:
                ratio = counts[counted] / static[most]
                key = (place, most)
                found[key] = max(found.get(key, 0.0), min(ratio, counts.get("warp_steps", ratio)))
    return found


def _anchors(profile: Profile, place: Place) -> list[tuple[str, Callable[[Instruction], float]]]:
    """Return the counters of a line and what an instruction contributes to each of them."""
    found: list[tuple[str, Callable[[Instruction], float]]] = [
        ("barriers", lambda one: float(one.opcode.startswith("BAR")))
    ]
    for access in profile.accesses:
        if access.place == place and access.space in ("global", "shared"):
            kind, size = (access.space, access.op), access.size
            found.append(
                (
                    f"{access.space}_{access.op}_requests",
                    lambda one, kind=kind, size=size: (  # type: ignore[misc]
                        max(1.0, _bytes(one) / size) if _memory(one) == kind else 0.0
                    ),
                )
            )
    return found


def _memory(one: Instruction) -> tuple[str, str] | None:
    return _MEMORY.get(one.opcode.partition(".")[0])


def _bytes(one: Instruction) -> int:
    return 16 if ".128" in one.opcode else 8 if ".64" in one.opcode else WORD
