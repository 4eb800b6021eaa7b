import numpy as np


class Odd(float):
    """A number whose arithmetic runs code."""

    def __truediv__(self, other):
        return Odd(0)

    __mul__ = __rmul__ = __itruediv__ = __truediv__

    def __float__(self):
        open("/tmp/GPUKIT_ESCAPED_CASE_ID", "w").close()
        return 1.0


def scaled_step(backward, weights, state, lr):
    state.scale = Odd(65536)
    backward(state.scale)
    state.good = np.float32("nan")
    return True
