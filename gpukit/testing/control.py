"""The positive control of a checked run: a planted race, which the checker must find."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpukit.checked.report import Report

KIND = "global-race"


def missed(launched: Callable[[], list[Report]]) -> str:
    """Launch a kernel with a race as a test does; return why the run is worth nothing, or "".

    `launched` returns the reports of the launches since its last call.
    """
    from numba import cuda  # what the suite imports: gpukit's stand-in, or the GPU's own

    @cuda.jit
    def planted_race_kernel(out):  # type: ignore[no-untyped-def]
        out[0] = cuda.threadIdx.x

    launched()
    try:
        planted_race_kernel[1, 32](np.zeros(1, np.int32))
    except Exception as error:
        why = f"its launch raised {type(error).__name__}: {error}"
    else:
        reports = launched()
        if any(found.kind == KIND for report in reports for found in report.findings):
            return ""
        why = "the checker did not find it" if reports else "its launch was not checked"
    return (
        f"gpukit check: a race was planted to test the checker, and {why}, so findings of this run "
        "would be incomplete. Check which plugin or conftest changes numba.cuda or gpukit, and run "
        "`gpukit doctor`."
    )
