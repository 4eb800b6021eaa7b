from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gpukit import cuda

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

LR, BETA1, BETA2 = (np.float32(v) for v in (0.01, 0.9, 0.999))
EPS: np.float32 = np.float32(1e-8)
ONE: Any = np.float32(1)


@cuda.jit
def adam_kernel(w: Vector, grad: Vector, m: Vector, v: Vector, step: int, new_w: Vector, new_m: Vector, new_v: Vector) -> None:
    i = cuda.grid(1)
    if i < w.size:
        g = grad[i]
        new_m[i] = m1 = BETA1 * m[i] + (ONE - BETA1) * g
        new_v[i] = v1 = BETA2 * v[i] + (ONE - BETA2) * g * g
        t = np.float32(step)
        m_hat = m1 / (ONE - BETA1**t)
        v_hat = v1 / (ONE - BETA2**t)
        new_w[i] = w[i] - LR * m_hat / (math.sqrt(v_hat) + EPS)
