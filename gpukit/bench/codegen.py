"""The code generation gate: the machine code of every kernel of the book.

Needs the extra `cuda13` and no GPU. Correct source can still compile to slow code: a Python literal
makes a float32 kernel compute in float64, a signed index hides an alignment of 16 bytes, a tile
that is too large spills registers. The machine code shows all of that. `gpukit codegen` prints the
findings; `make codegen` installs the compilers.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from gpukit import errors, gpu_code
from gpukit.bench import cases
from gpukit.bench.launches import first_launch
from gpukit.gpu_code import sass

# Turing (T4), Ampere (A100), Hopper (H100, H200), Blackwell (B200).
CAPABILITIES = ((7, 5), (8, 0), (9, 0), (10, 0))
# Those via PTX, and LTO as in a launch on Hopper. LTO for the others would double the time.
BUILDS: tuple[gpu_code.Capability, ...] = (*CAPABILITIES, (9, 0, gpu_code.LTO))
# Without a bar, instructions are read only for float64, which depends on the types alone: Hopper's
# suffice. For the other GPUs, registers and spills are read.
BUILDS_WITHOUT_BAR: tuple[gpu_code.Capability, ...] = tuple(
    c if c[:2] == (9, 0) else (*c[:2], gpu_code.UNLISTED) for c in BUILDS
)


@dataclass(frozen=True)
class Bar:
    """The requirements on one kernel's code.

    They are the fraction of FFMA in its main loop, 16-byte accesses, and the prefix of a tensor
    core instruction in that loop.
    """

    ffma: float = 0.0
    wide: tuple[str, ...] = ()
    tensor: str = ""


_STEPS = ("sgd", "momentum", "nesterov", "adagrad", "rmsprop", "adadelta", "adam", "adamw")
_ACTIVATIONS = ("relu", "sigmoid", "tanh", "gelu")
_LOADS_AND_STORES = Bar(wide=("LDG", "STG"))
# Shares are those measured with the versions in benchmarks/results/codegen.json, rounded down.
BARS = {
    "matmul_tiled": Bar(ffma=0.14),
    "matmul_padded": Bar(ffma=0.13),
    "matmul_register_tile_1d": Bar(ffma=0.29),
    "matmul_register_tile_2d": Bar(ffma=0.50),
    "matmul_vectorized": Bar(ffma=0.84, wide=("LDG", "LDS", "STS", "STG")),
    "matmul_double_buffered": Bar(ffma=0.85, wide=("LDG", "LDS", "STS", "STG")),
    "matmul_tensor_tf32": Bar(wide=("LDG", "STS"), tensor="HMMA"),
    "matmul_tensor_bf16": Bar(wide=("LDGSTS",), tensor="HMMA"),
    "matmul_warpgroup_bf16": Bar(wide=("LDGSTS",), tensor="HGMMA"),
    "matmul_batched": Bar(ffma=0.13),
    "sum_vectorized": Bar(wide=("LDG",)),
    "matvec_vectorized": Bar(wide=("LDG",)),
    "conv2d_implicit": Bar(ffma=0.63, wide=("LDS",)),
    "matmul_nt_tiled": Bar(ffma=0.17),
    "matmul_nt_vectorized": Bar(ffma=0.80, wide=("LDG", "LDS", "STG")),
    "matmul_tn_tiled": Bar(ffma=0.13),
    "matmul_tn_vectorized": Bar(ffma=0.80, wide=("LDG", "LDS", "STS", "STG")),
    "matmul_mixed": Bar(ffma=0.14),
    "matmul_nt_mixed": Bar(ffma=0.16),
    "matmul_tn_mixed": Bar(ffma=0.15),
    "square_sum_vectorized": Bar(wide=("LDG",)),
    **{f"{name}_vectorized": _LOADS_AND_STORES for name in (*_STEPS, "scale")},
    "fill_vectorized": Bar(wide=("STG",)),
    **{f"{name}_vectorized": _LOADS_AND_STORES for name in ("vector_add", "saxpy", "copy")},
    **{f"{name}_vectorized": _LOADS_AND_STORES for name in _ACTIVATIONS},
    **{f"{name}_grad_vectorized": _LOADS_AND_STORES for name in _ACTIVATIONS},
}


@dataclass(frozen=True)
class Line:
    """The properties of one kernel's code for one compute capability."""

    kernel: str
    capability: gpu_code.Capability
    registers: int
    spilled: int
    stack: int
    shared: int
    instructions: int
    mix: dict[str, int]
    wide: dict[str, int]
    ffma_in_loop: float
    tensor_in_loop: dict[str, int]
    float32: bool
    tool: str

    @property
    def arch(self) -> str:
        """The compute capability as `sm_90`; sm_90-lto is linked as at a launch."""
        major, minor, *how = self.capability
        return f"sm_{major}{minor}{'-lto' if gpu_code.LTO in how else ''}"

    @property
    def listed(self) -> bool:
        """Whether its instructions were read."""
        return gpu_code.UNLISTED not in self.capability


def measure(names: Sequence[str] = (), only: tuple[int, int] | None = None) -> list[Line]:
    """Compile kernels for each build that can run them; return the properties of their code.

    `names` are those of benchmark cases; none means all. `only` is one of CAPABILITIES; None means
    all. Raises TargetError without a GPU compiler, and for another capability.
    """
    if only not in (None, *CAPABILITIES):
        known = ", ".join("sm_{}{}".format(*capability) for capability in CAPABILITIES)
        raise errors.TargetError(
            "codegen: expected one of {}, got sm_{}{}. Choose one of them.".format(known, *only)
        )
    if reason := gpu_code.missing():
        raise errors.TargetError(f"codegen: {reason}")
    chosen = cases.choose(names)
    jobs = [(launched.kernel, launched.arguments) for launched in map(first_launch, chosen)]
    workers = min(os.cpu_count() or 1, len(jobs))
    with ThreadPoolExecutor(workers) as pool:
        places = range(len(chosen))
        alike = [[k for k in places if (chosen[k] in BARS) is bar] for bar in (True, False)]
        shares = [share for group in alike for n in range(workers) if (share := group[n::workers])]
        answers = pool.map(
            lambda share: gpu_code.build_many(
                [jobs[k] for k in share],
                [
                    build
                    for build in (BUILDS if chosen[share[0]] in BARS else BUILDS_WITHOUT_BAR)
                    if only in (None, build[:2])
                ],
            ),
            shares,
        )
        built = {
            k: codes
            for share, found in zip(shares, answers, strict=True)
            for k, codes in zip(share, found, strict=True)
        }
    return [
        _line(name, jobs[k][1], capability, code)
        for k, name in enumerate(chosen)
        for capability, code in built[k].items()
        if _runs(name, capability)
    ]


def _runs(name: str, capability: gpu_code.Capability) -> bool:
    least, most = cases.CASES[name].variant.needs
    return least <= capability[:2] <= most


def _line(
    name: str, arguments: Sequence[Any], capability: gpu_code.Capability, code: gpu_code.Code
) -> Line:
    if code.registers is None:
        raise errors.TargetError(f"codegen: {name}: {code.reason}")
    if not code.sass and gpu_code.UNLISTED not in capability:
        raise errors.TargetError(f"codegen: {gpu_code.NO_DISASSEMBLER}")
    instructions = sass.parse(code.sass)
    loop, products = (sass.main_loop(instructions, group) for group in ("FFMA", "tensor"))
    return Line(
        kernel=name,
        capability=capability,
        registers=code.registers,
        spilled=code.spilled,
        stack=code.stack,
        shared=code.shared,
        instructions=len(instructions),
        mix=dict(sorted(sass.mix(instructions).items())),
        wide=dict(sorted(sass.wide_accesses(instructions).items())),
        ffma_in_loop=sass.mix(loop)["FFMA"] / len(loop) if loop else 0.0,
        tensor_in_loop=sass.opcodes(products, "tensor"),
        float32=not any(_is_double(argument) for argument in arguments),
        tool=code.tool,
    )


def _is_double(argument: Any) -> bool:
    return isinstance(argument, np.ndarray) and argument.dtype == np.float64


def faults(lines: Iterable[Line]) -> list[str]:
    """Return what is wrong with the code, one sentence per fault."""
    found = []
    for line in lines:
        bar = BARS.get(line.kernel, Bar())
        where = f"{line.kernel} for {line.arch}"
        if line.spilled:
            found.append(
                f"{where} spills {line.spilled} bytes per thread with {line.registers} registers. "
                "Give a thread fewer values, or launch_bounds that allow more registers."
            )
        if line.float32 and line.mix.get("double"):
            found.append(
                f"{where} takes no float64 and has {line.mix['double']} float64 instructions. "
                "Look for a literal or a division that needs np.float32: gpukit sass "
                f"{line.kernel}."
            )
        found += [
            f"{where} has no 16-byte {access}: an index that hides its alignment?"
            for access in bar.wide
            if not line.wide.get(access)
        ]
        if bar.tensor and not line.tensor_in_loop.get(bar.tensor):
            found.append(f"{where} has no {bar.tensor} in a loop: does it still use tensor cores?")
        if line.capability[:2] == (9, 0) and line.ffma_in_loop < bar.ffma:
            found.append(
                f"{where}: {line.ffma_in_loop:.1%} of the main loop is FFMA, "
                f"{bar.ffma:.1%} was measured before."
            )
    return found


_NAMED = ("kernel", "capability", "float32", "tool")  # not part of a kernel's record
HEADERS = ("kernel", "for", "registers", "spills", "shared", "instructions", "FFMA in loop", "wide")


def row(line: Line) -> list[str]:
    """Return the cells of one line of the table."""
    share = f"{line.ffma_in_loop:.0%}" if line.ffma_in_loop else "-"
    wide = " ".join(f"{count} {access}" for access, count in line.wide.items())
    return [
        line.kernel,
        line.arch,
        str(line.registers),
        str(line.spilled),
        str(line.shared),
        str(line.instructions) if line.listed else "-",
        share,
        wide or "-",
    ]


def as_json(lines: Sequence[Line]) -> dict[str, Any]:
    """Return everything found, by kernel and compute capability."""
    kernels: dict[str, dict[str, Any]] = {}
    for line in lines:
        found = {name: value for name, value in asdict(line).items() if name not in _NAMED}
        found["ffma_in_loop"] = round(line.ffma_in_loop, 4)
        kernels.setdefault(line.kernel, {})[line.arch] = found
    return {"tool": lines[0].tool, "kernels": kernels}
