import collections
import functools
import itertools
import os
import random
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from gpukit import check, cuda, profile


@cuda.jit
def avg_pool_backward_kernel(grad_out, size, stride, grad_x):
    x, y = cuda.grid(2)
    if y >= grad_x.shape[0] or x >= grad_x.shape[1]:
        return
    # the first and the last window over this pixel
    r0 = max(0, (y - size + stride) // stride)
    r1 = min(y // stride, grad_out.shape[0] - 1)
    c0 = max(0, (x - size + stride) // stride)
    c1 = min(x // stride, grad_out.shape[1] - 1)
    total = np.float32(0)
    r = r0
    while r <= r1:
        c = c0
        while c <= c1:
            total += grad_out[r, c]
            c += 1
        r += 1
    grad_x[y, x] = total / np.float32(size * size)
