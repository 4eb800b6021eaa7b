"""`python benchmarks/plain_loops`: set one thread for all, then run."""

import os
import sys
from pathlib import Path

if __name__ == "__main__":
    # BLAS and OpenMP read theirs when NumPy is imported; gpukit reads its own at every launch.
    os.environ.update({f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL", "NUMBA")})
    os.environ.update({"GPUKIT_THREADS": "1", "GPUKIT_TARGET": "cpu"})
    sys.path[0] = str(Path(__file__).resolve().parents[2])

    from benchmarks.plain_loops import run

    raise SystemExit(run.main())
