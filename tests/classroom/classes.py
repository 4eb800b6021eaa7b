"""Reports of made-up classes."""

from __future__ import annotations

import json
import random

from gpukit.classroom import reports, schema

EXERCISES = {
    "guarded_map": 10,
    "zip_add": 10,
    "brighten": 10,
    "upside_down": 15,
    "black_and_white": 15,
    "grid_stride": 15,
    "transpose": 20,
    "padded_transpose": 20,
    "block_sum": 25,
    "warp_sum": 25,
    "histogram": 30,
    "tiled_matmul": 40,
    "avg_pool_backward": 30,
    "detective_vanishing_counts": 20,
    "cross_entropy_grad": 30,
}
CAUSES = {
    "wrong": (
        "global-race",
        "Each sum is stored one index too high, and out[0] is missing: indices start at 0.",
        "Block and thread index are swapped: write "
        "`cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x`.",
        "uninitialised-shared",
    ),
    "error": ("out-of-bounds", "barrier-divergence"),
    "but": ("load requests to a, per warp: at most 1",),
}
STATUSES = ("right", "but", "wrong", "error", "timeout", "absent", "untouched", "infra")


def report(student="alice", exercise="zip_add", status="right", of=10, **more):
    """Return a valid report."""
    points = {"right": of, "but": of // 2, "infra": None}.get(status, 0)
    return {
        "schema": "gpukit-grade",
        "version": schema.VERSION,
        "student": student,
        "exercise": exercise,
        "file": f"{student}/{exercise}.py",
        "sha256": "0" * 64,
        "exercise_sha256": "1" * 64,
        "status": status,
        "points": points,
        "of": of,
        "why": "" if status == "right" else "Something is wrong.\n\nIt is explained here.",
        "cause": "",
        "rows": [{"name": "one element", "status": "right", "sizes": "a (1,) float32"}],
        "printed": "",
        "seed": 1,
        "isolation": "bubblewrap",
        "gpukit": "0.1.0",
        "fingerprint": "",
        "counters": {},
        **more,
    }


def write(out, made):
    """Write reports where a run writes them."""
    for number, one in enumerate(made):
        folder = out / reports.FOLDER / f"{one['student']}"
        folder.mkdir(parents=True, exist_ok=True)
        name = one["exercise"] if "/" not in one["exercise"] else str(number)
        (folder / f"{name}.json").write_text(json.dumps(one), encoding="utf-8")
    return out


def graded(*made):
    """Return reports as if they had been read, students and exercises in order of appearance."""
    return reports.Graded(
        students=tuple(dict.fromkeys(one["student"] for one in made)),
        exercises=tuple(dict.fromkeys(one["exercise"] for one in made)),
        reports={(one["student"], one["exercise"]): one for one in made},
        folders={one["student"]: one["student"] for one in made},
    )


def simulated(students, exercises=15, seed=1):
    """Return the reports of a class of this size, in which students differ."""
    rng = random.Random(seed)
    made = []
    for number in range(students):
        skill = rng.betavariate(4, 2)
        for name, of in [*EXERCISES.items()][:exercises]:
            hard = of / 60
            weights = [4 * skill, 0.7, 1.2 * hard + 0.4, 0.4, 0.1, 1.4 - skill, 0.1, 0.02]
            status = rng.choices(STATUSES, weights)[0]
            counters = {
                "global_bytes": of * 768 * rng.choice([1, 1, 1, 1, 1.25, 1.5, 2, 4]),
                "shared_wavefronts": of * rng.choice([0, 0, 8]),
                "barriers": rng.choice([0, 8]),
            }
            counted = status in ("right", "but")
            cause = rng.choice(CAUSES.get(status, ("",)))
            more = {"cause": cause, "counters": counters if counted else {}}
            made.append(report(f"student{number:03}", name, status, of, **more))
    return made
