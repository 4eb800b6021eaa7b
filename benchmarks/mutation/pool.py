"""Run a function on many items in worker processes that may crash or hang."""

from __future__ import annotations

import contextlib
import multiprocessing
import multiprocessing.connection
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

SPAWN = multiprocessing.get_context("spawn")


class Worker:
    """A worker process and its current item."""

    def __init__(self, function: Callable[[Any], Any], limit: float) -> None:
        self.function, self.limit = function, limit
        self.item: Any = None
        self.start()

    def start(self) -> None:
        """Start a new process."""
        self.pipe, theirs = SPAWN.Pipe()
        self.process = SPAWN.Process(target=_serve, args=(self.function, theirs), daemon=True)
        self.process.start()
        theirs.close()

    def give(self, item: Any) -> None:
        """Send an item and start its time limit."""
        self.item, self.until = item, time.monotonic() + self.limit
        with contextlib.suppress(OSError):  # it has crashed: take() will notice
            self.pipe.send(item)

    def take(self) -> tuple[bool, Any]:
        """Return whether the item is done, and its result, "crashed" or "hung"."""
        if self.pipe.poll():
            with contextlib.suppress(EOFError, OSError):
                return True, self.pipe.recv()
            return True, self._restart("crashed")
        if time.monotonic() > self.until:
            return True, self._restart("hung")
        return False, None

    def _restart(self, word: str) -> str:
        self.stop()
        self.start()
        return word

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.join()
        self.pipe.close()


def _serve(function: Callable[[Any], Any], pipe: Any) -> None:
    with contextlib.suppress(EOFError, KeyboardInterrupt):
        while True:
            pipe.send(function(pipe.recv()))


def run(
    function: Callable[[Any], Any], items: Sequence[Any], *, workers: int = 2, limit: float = 60
) -> Iterator[tuple[Any, Any]]:
    """Yield each item with its result, or with "crashed" or "hung", in order of completion."""
    waiting = list(reversed(items))
    made = [Worker(function, limit) for _ in range(min(workers, len(items)))]
    try:
        busy = []
        for worker in made:
            worker.give(waiting.pop())
            busy.append(worker)
        while busy:
            multiprocessing.connection.wait([w.pipe for w in busy], timeout=0.5)
            for worker in list(busy):
                done, result = worker.take()
                if done:
                    yield worker.item, result
                    if waiting:
                        worker.give(waiting.pop())
                    else:
                        busy.remove(worker)
    finally:
        for worker in made:
            worker.stop()
