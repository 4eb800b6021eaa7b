"""Arrays that are neither NumPy's nor ours."""


class Foreign:
    """An array of another library: it can only be asked for its memory."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()
