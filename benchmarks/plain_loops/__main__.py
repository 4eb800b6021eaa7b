"""`python -m benchmarks.plain_loops`: choose one thread and the CPU target, then run."""

import os

from benchmarks import harness

if __name__ == "__main__":
    harness.one_thread()
    os.environ["GPUKIT_TARGET"] = "cpu"

    from benchmarks.plain_loops import run

    raise SystemExit(run.main())
