"""Merging equal findings and launches, for scripts with many launches."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any, NamedTuple

from gpukit.checked.finding import Finding


class Launch(NamedTuple):
    """Launches of one kernel in one shape; the counts and `seconds` are sums over them.

    `idle_warps` are the warps of which no thread read or wrote anything, `stopped` is what ended
    one of the launches before its last block: the counts are those up to then.
    """

    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    launches: int = 1
    blocks_run: int = 0
    seconds: float = 0.0
    idle_warps: int = 0
    stopped: str = ""

    @property
    def shape(self) -> tuple[str, tuple[int, ...], tuple[int, ...]]:
        """What makes two launches equal: kernel, grid and block."""
        return self.kernel, self.grid, self.block


def findings(found: Iterable[Finding]) -> list[Finding]:
    """Merge the findings that say the same of the same lines, and add their counts.

    The first one's element, threads and words are kept.
    """
    folded: dict[tuple[Any, ...], Finding] = {}
    for finding in found:
        key = _sameness(finding)
        kept = folded.get(key)
        folded[key] = (
            dataclasses.replace(kept, count=kept.count + finding.count) if kept else finding
        )
    return list(folded.values())


def _sameness(finding: Finding) -> tuple[Any, ...]:
    """The key of findings that are one mistake; those without a line need the same message."""
    return (
        finding.kind,
        finding.severity,
        finding.kernel,
        finding.file,
        finding.line,
        finding.other_line,
        finding.array,
        str(finding.details.get("what", "")),
        "" if finding.line else finding.message,
    )


def launches(made: Iterable[Launch]) -> list[Launch]:
    folded: dict[tuple[Any, ...], Launch] = {}
    for new in made:
        old = folded.get(new.shape)
        if old:
            new = new._replace(
                launches=old.launches + new.launches,
                blocks_run=old.blocks_run + new.blocks_run,
                seconds=old.seconds + new.seconds,
                idle_warps=old.idle_warps + new.idle_warps,
                stopped=old.stopped or new.stopped,
            )
        folded[new.shape] = new
    return list(folded.values())
