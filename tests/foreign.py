"""Arrays that are neither NumPy's nor ours."""


class Foreign:
    """An array of another library: it can only be asked for its memory."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class OnGpu:
    """An array of another library on a GPU: it shows only where its memory is."""

    def __init__(self, array):
        self.kept = array
        self.__cuda_array_interface__ = array.__cuda_array_interface__
