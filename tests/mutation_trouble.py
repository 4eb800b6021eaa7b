"""A function that answers, dies or hangs, for the test of the pool: a new process imports it."""

import os
import time


def act(item: str) -> str:
    """Do what the word says; answer any other word in capitals."""
    if item == "die":
        os._exit(3)
    if item == "hang":
        time.sleep(600)
    return item.upper()
