class Value:
    def __init__(self, data):
        raise ValueError(MESSAGE)
