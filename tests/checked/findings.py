"""Handmade findings of every kind, for the tests of messages and reports."""

from gpukit.checked.finding import KINDS, Finding
from gpukit.checked.messages import describe
from gpukit.checked.report import Report

# Markup, a terminal command, a null, half a surrogate, and the end of a CDATA section.
NASTY = "<b>&\"'\x1b[31m\x00\ud800]]>"
FILE = "/course/reduce.py"
CAUGHT = {"line": 15, "threads": ((3, 0, 0),), "blocks": ((2, 0, 0),)}
RACE = {
    "line": 15,
    "other_line": 12,
    "hazard": "write-read",
    "array": "tile",
    "index": (4,),
    "threads": ((3, 0, 0), (4, 0, 0)),
    "blocks": ((2, 0, 0), (2, 0, 0)),
}
ACROSS = {**RACE, "array": "out", "blocks": ((1, 0, 0), (0, 0, 0))}

# The details that the engine records for a finding of each kind.
DETAILS = {
    "out-of-bounds": {**CAUGHT, "array": "x", "index": (131,), "shape": (131,), "what": "x[i + 1]"},
    "misaligned": {**CAUGHT, "array": "data", "index": (1,), "size": 8, "given": 4},
    "negative-index": {**CAUGHT, "array": "x", "index": (-1,), "shape": (131,), "what": "x[i - 1]"},
    "shared-race": {**RACE, "space": "shared"},
    "global-race": {**ACROSS, "space": "global"},
    "atomic-race": {**ACROSS, "atomic": False},
    "warp-race": {**RACE, "same_warp": True},
    "same-value-race": {**RACE, "hazard": "write-write", "other_line": 15},
    "uninitialised-shared": {**CAUGHT, "array": "tile", "index": (4,)},
    "uninitialised-local": {**CAUGHT, "array": "acc", "index": (2,), "shape": (5,)},
    "uninitialised-global": {**CAUGHT, "array": "d_out", "index": (2,)},
    "never-written": {"array": "out", "written": 100, "elements": 131, "first_unwritten": (100,)},
    "barrier-divergence": {
        **CAUGHT,
        "waiting": "0-15",
        "missing": "16-31",
        "what": "cuda.syncthreads()",
    },
    "barrier-after-return": {
        **CAUGHT,
        "waiting": "0-7",
        "missing": "8",
        "what": "cuda.syncthreads()",
    },
    "endless-wait": {**CAUGHT, "limit": 1000000},
    "spin-lock": {"line": 15, "what": "while cuda.atomic.cas(lock, 0, 0, 1) != 0"},
    "warp-mask": {**CAUGHT, "mask": -1, "lanes": "16-31", "what": "cuda.shfl_sync(-1, v, 0)"},
    "shuffle-source": {**CAUGHT, "lanes": "20", "what": "cuda.shfl_sync(m, v, 20)"},
    "cooperative-misuse": {"line": 15, "given": 5000, "limit": 264, "what": "grid.sync()"},
    "stream-race": {
        "line": 15,
        "other_line": 12,
        "array": "d_x",
        "use": "read",
        "other_use": "write",
        "call": "the launch of `sum_kernel`",
        "other_call": "the copy to the device",
        "stream": "s2",
        "stream_number": 2,
        "other_stream": "s1",
        "other_stream_number": 1,
    },
    "host-race": {
        "line": 15,
        "other_line": 12,
        "array": "h_x",
        "use": "read",
        "other_use": "write",
        "other_call": "the copy to the host",
        "other_stream": "s1",
        "other_stream_number": 1,
    },
    "returned-local": {"line": 15, "reason": "r is gone.", "advice": "pass it in"},
    "launch-refused": {"reason": "a block of 2048 has too many threads. Use smaller blocks."},
    "raised": {**CAUGHT, "reason": "ValueError: n must be even"},
    "idle-threads": {"idle": 3, "total": 7},
    "block-order": {
        "array": "out",
        "index": (5,),
        "count": 2,
        "elements": 131,
        "reason": "in reverse",
    },
    "not-reproducible": {"line": 15, "array": "total", "what": "cuda.atomic.add(total, 0, x[i])"},
    "int32-overflow": {"line": 15, "what": "row * width", "given": 3000000000},
    "float64": {"line": 15, "what": "0.5", "reason": "literal"},
    "lost-value": {"line": 15, "what": "total", "reason": "number"},
    "no-effect": {"line": 15, "what": "out[i] == 0", "reason": "equality"},
    "zero-division": {"line": 15, "what": "100 // 0"},
    "stale-constant": {"line": 15, "what": "table"},
}


def finding(kind, **changes):
    """Return a finding as the engine makes it, with some fields replaced."""
    details = DETAILS[kind]
    message, fix = describe(kind, details)
    fields = {
        "kind": kind,
        "severity": KINDS[kind].severity,
        "kernel": "sum_kernel",
        "file": FILE if "line" in details else "",
        "line": details.get("line", 0),
        "source": "        total += tile[tid + 1]" if "line" in details else "",
        "message": message,
        "fix": fix,
        "other_line": details.get("other_line", 0),
        "other_source": "    tile[tid] = x[i]" if "other_line" in details else "",
        "array": details.get("array", ""),
        "index": details.get("index", ()),
        "threads": details.get("threads", ()),
        "blocks": details.get("blocks", ()),
        "details": details,
    }
    return Finding(**{**fields, **changes})


def every_kind():
    """Return one finding of each kind."""
    return [finding(kind) for kind in KINDS]


def report(*findings, **fields):
    """Return the report of a launch of 7 blocks of 96 threads."""
    run = {"kernel": "sum_kernel", "grid": (7, 1, 1), "block": (96, 1, 1), "blocks_run": 7}
    return Report(list(findings), **{**run, **fields})


def full():
    """Return a report with a finding of each kind, and a note."""
    return report(*every_kind(), notes=["The blocks ran in three orders."])


def nasty():
    """Return a report in which every text tries to inject markup or control characters."""
    texts = dict.fromkeys(("kernel", "file", "source", "message", "fix", "array"), NASTY)
    one = finding("shared-race", **texts, other_source=NASTY, details={"what": NASTY})
    return report(one, kernel=NASTY, notes=[NASTY])
