"""Arrays of consecutive integers, and a record type."""

import numpy as np

RECORD = np.dtype([("a", np.float64), ("b", np.int32), ("c", np.float32, 2)], align=True)


def ramp(shape, order="C", dtype=np.int64):
    return np.arange(int(np.prod(shape)), dtype=dtype).reshape(shape, order=order)
