import numpy as np


class Launcher:
    """Looks like a kernel and computes with NumPy."""

    def __getitem__(self, sizes):
        return self

    def __call__(self, a, b, out):
        np.add(a, b, out=out)


zip_add_kernel = Launcher()
