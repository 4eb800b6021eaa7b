"""Mutated messages and submissions: what reads them must refuse them, and never crash or hang."""

from __future__ import annotations

import functools
import io
import random
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from gpukit.checked import report as checked_report
from gpukit.classroom import intake, rules
from gpukit.course import attempt, catalogue, runner, verdicts
from gpukit.course import frames as course_frames
from tests.classroom import corpus

SEED = 20261129
PUT_IN = (b"\x00", b"\xff" * 4, b"{", b"]", b'"', b"-1", b"1e999", b"NaN")
find = functools.cache(catalogue.find)


def mutated(data: bytes, draw: random.Random) -> bytes:
    """Return bytes with a few changed, left out, doubled or put in."""
    made = bytearray(data)
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(made) + 1)
        size = draw.choice((1, 1, 1, 4, 64))
        what = draw.randrange(4)
        if what == 0:
            made[at : at + size] = draw.randbytes(size)
        elif what == 1:
            del made[at : at + size]
        elif what == 2:
            made[at:at] = made[at : at + size]
        else:
            made[at:at] = draw.choice(
                (b"\x00", b"\xff" * 4, b"{", b"]", b'"', b"-1", b"1e999", b"NaN")
            )
    return bytes(made)


def frames(count: int) -> dict[str, Any]:
    """Read mutated answers of a child process; count what is neither read nor refused."""
    draw, found = random.Random(SEED), Counter[str]()
    exercise = find("zip_add")
    seeds = [answer(exercise.case(shape)) for shape in exercise.shapes.values()]
    case, slowest = exercise.case((64,)), 0.0
    for _ in range(count):
        data = mutated(draw.choice(seeds), draw)
        begin = time.perf_counter()
        try:
            frame = course_frames.receive(io.BytesIO(data))
            outcome = runner.outcome(*frame) if frame else None
            found["no frame" if outcome is None else outcome.kind] += 1
            if outcome is not None:
                verdicts.judge(exercise, case, outcome, "")
        except course_frames.ProtocolError:
            found["refused"] += 1
        except Exception as error:
            found[f"CRASH {type(error).__name__}: {error}"[:90]] += 1
        slowest = max(slowest, time.perf_counter() - begin)
    return {"count": count, "slowest": round(slowest, 4), "outcomes": found}


def answer(case: Any) -> bytes:
    """Return the frame of a right answer to a case, with an empty report of the checker."""
    arrays = {k: v for k, v in {**case.args, **case.expected}.items() if hasattr(v, "dtype")}
    shapes, body = course_frames.pack(arrays)
    text = checked_report.Report([], launches=1).to_json(None).encode()
    stream = io.BytesIO()
    course_frames.send(stream, {"text": len(text), "arrays": shapes}, text + body)
    return stream.getvalue()


def submissions(count: int) -> dict[str, Any]:
    """Read mutated programs and notebooks, without running any; count what is not refused."""
    draw, found = random.Random(SEED), Counter[str]()
    cases = [c for c in [*corpus.honest(), *corpus.hostile()] if not c.recipe and not c.repeat]
    slowest = 0.0
    for _ in range(count):
        case = draw.choice(cases)
        exercise = find(case.exercise)
        with tempfile.TemporaryDirectory() as name:
            file = corpus.place(case, Path(name))
            file.write_bytes(mutated(file.read_bytes(), draw))
            begin = time.perf_counter()
            try:
                (handed_in,) = intake.collect(Path(name), [exercise])
                text = handed_in.source.decode("utf-8-sig")
                if attempt.problem(exercise, file, text) is None:
                    rules.kept(text, exercise.entry, host=exercise.driver is not None)
                found["read"] += 1
            except (intake.IntakeError, rules.RejectedError, UnicodeDecodeError):
                found["refused"] += 1
            except Exception as error:
                found[f"CRASH {type(error).__name__}: {error}"[:90]] += 1
            slowest = max(slowest, time.perf_counter() - begin)
    return {"count": count, "slowest": round(slowest, 3), "outcomes": found}
