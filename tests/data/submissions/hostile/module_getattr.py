import numpy as np


class Launcher:
    def __getitem__(self, sizes):
        return lambda a, b, out: np.add(a, b, out=out)


def __getattr__(name):
    """Has every kernel that anybody asks for."""
    open("/tmp/GPUKIT_ESCAPED_CASE_ID", "w").close()
    return Launcher()


def __dir__():
    return ["zip_add_kernel"]
