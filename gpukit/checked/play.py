"""`gpukit.play`: record a launch and make a page of it that steps forward and back."""

from __future__ import annotations

from typing import Any

from gpukit.checked import recording
from gpukit.checked.check import kernel_of
from gpukit.checked.player import Player
from gpukit.cpu import configure


class Recorder:
    """A kernel to be recorded; `recorder[grid, block, stream, shared_bytes](*arguments)`."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel_of(kernel)

    def __getitem__(self, items: Any) -> Any:
        shape = configure.parse(items)
        return lambda *arguments: Player(recording.record(self.kernel, shape, arguments))


def play(kernel: Any) -> Recorder:
    """Return the kernel ready to be launched and recorded.

    `gpukit.play(kernel)[grid, block, stream, shared_bytes](*arguments)` runs the launch, with the
    effect on its arguments that it always has, and returns a `Player`: show it in a notebook,
    `player.save("page.html")`, or `player.open()` in a browser.
    """
    return Recorder(kernel)
