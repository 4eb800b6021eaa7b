class Value:
    """Answers every question with another value."""

    def __init__(self, data):
        self.parent = self

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Value(name)

    def __add__(self, other):
        return self

    __mul__ = __radd__ = __rmul__ = __add__

    def __call__(self, *args):
        return self

    def __float__(self):
        while True:
            pass

    def __iter__(self):
        return self

    def __next__(self):
        return self
