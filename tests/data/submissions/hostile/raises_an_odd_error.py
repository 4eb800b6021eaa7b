class Odd(Exception):
    """An error whose attributes are not what those of gpukit's own errors are."""

    message = b"bytes"
    line, kernel, fix, array, source = "line 1", [1], {"a": 1}, 5, None
    block, thread, index, shape = "x", 7, [[]], [None, "1e9"]
    __notes__ = [1, 2]

    def __str__(self):
        return "<b>" + "x" * 10_000


class Value:
    def __init__(self, data):
        raise Odd from ExceptionGroup("many", [Odd(), Odd()])
