"""What checked mode can find: the classes of findings, how severe each is, and one finding.

Severities and tool names follow NVIDIA's compute-sanitizer (documentation of version 13.4):
`memcheck`, `racecheck`, `initcheck`, `synccheck`; `order`, `launch` and `lint` are gpukit's own.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

ERROR, WARNING, INFO = "error", "warning", "info"
SEVERITIES = (ERROR, WARNING, INFO)


class Kind(NamedTuple):
    """One class of findings: the sanitizer's tool that it belongs to, and its usual severity."""

    tool: str
    severity: str
    title: str


KINDS = {
    "out-of-bounds": Kind("memcheck", ERROR, "access outside an array"),
    "misaligned": Kind("memcheck", ERROR, "misaligned access"),
    "negative-index": Kind("memcheck", WARNING, "negative index, which counts from the end"),
    "shared-race": Kind("racecheck", ERROR, "data race in shared memory"),
    "global-race": Kind("racecheck", ERROR, "data race in global memory"),
    "atomic-race": Kind("racecheck", ERROR, "atomic and plain access to the same element"),
    "warp-race": Kind("racecheck", WARNING, "race within a warp, without syncwarp"),
    "same-value-race": Kind("racecheck", INFO, "several threads write the same value"),
    "uninitialised-shared": Kind("initcheck", ERROR, "read of uninitialized shared memory"),
    "uninitialised-local": Kind(
        "initcheck", ERROR, "read of an uninitialized local array or variable"
    ),
    "uninitialised-global": Kind("initcheck", ERROR, "read of uninitialized device memory"),
    "never-written": Kind("initcheck", WARNING, "output that no thread wrote"),
    "returned-local": Kind("memcheck", ERROR, "local array that outlives its device function"),
    "barrier-divergence": Kind("synccheck", ERROR, "barrier that not all threads reach"),
    "barrier-after-return": Kind("synccheck", WARNING, "barrier after some threads returned"),
    "endless-wait": Kind("synccheck", ERROR, "loop that waits forever"),
    "spin-lock": Kind("synccheck", INFO, "lock that several lanes of one warp wait for"),
    "warp-mask": Kind("synccheck", ERROR, "mask that does not match the calling lanes"),
    "shuffle-source": Kind("synccheck", WARNING, "shuffle from an inactive lane"),
    "cooperative-misuse": Kind("synccheck", ERROR, "grid.sync that cannot work"),
    "stream-race": Kind("order", ERROR, "unordered operations in two streams"),
    "host-race": Kind("order", ERROR, "host access before the stream is synchronized"),
    "launch-refused": Kind("launch", ERROR, "launch that a GPU refuses"),
    "raised": Kind("launch", ERROR, "exception raised in a kernel"),
    "idle-threads": Kind("launch", INFO, "idle threads"),
    "block-order": Kind("launch", WARNING, "result that depends on the order of the blocks"),
    "not-reproducible": Kind("launch", INFO, "floating-point sum that depends on the order"),
    "int32-overflow": Kind("lint", WARNING, "index that overflows int32"),
    "float64": Kind("lint", WARNING, "accidental float64 arithmetic"),
    "lost-value": Kind("lint", WARNING, "assigned value that is never read"),
    "no-effect": Kind("lint", WARNING, "statement that has no effect"),
    "zero-division": Kind("lint", WARNING, "division by zero"),
    "stale-constant": Kind("lint", WARNING, "global changed after the kernel was compiled"),
}


@dataclass(frozen=True)
class Finding:
    """One mistake, at the user's source lines.

    `threads` and `blocks` hold one triple (x, y, z) per side: the thread that was caught first,
    and the one it conflicts with. `count` says how often the same pair of lines was caught.
    """

    kind: str
    severity: str
    kernel: str
    file: str
    line: int
    source: str
    message: str
    fix: str
    other_line: int = 0
    other_source: str = ""
    array: str = ""
    index: tuple[int, ...] = ()
    threads: tuple[tuple[int, int, int], ...] = ()
    blocks: tuple[tuple[int, int, int], ...] = ()
    count: int = 1
    details: dict[str, Any] = field(default_factory=dict, compare=False)

    @property
    def tool(self) -> str:
        """The sanitizer's tool that reports this class."""
        return KINDS[self.kind].tool

    @property
    def title(self) -> str:
        """What the class of findings is, in a few words."""
        return KINDS[self.kind].title

    def as_dict(self) -> dict[str, Any]:
        """Return the finding as plain data, for JSON."""
        return {"tool": self.tool, "title": self.title, **asdict(self)}
