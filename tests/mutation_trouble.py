"""A function that returns, exits or hangs, for tests of the process pool."""

import os
import time


def act(item: str) -> str:
    """Exit for "die", hang for "hang", and return any other text in capitals."""
    if item == "die":
        os._exit(3)
    if item == "hang":
        time.sleep(600)
    return item.upper()
