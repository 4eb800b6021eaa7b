"""Arrays of other libraries, by their interface protocols."""


class Foreign:
    """An array of another library on the host, with DLPack only."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class OnGpu:
    """An array of another library on a GPU, with `__cuda_array_interface__` only."""

    def __init__(self, array):
        self.owner = array
        self.__cuda_array_interface__ = array.__cuda_array_interface__
