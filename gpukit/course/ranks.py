"""`%%ranks N` in a notebook: the cell as a program of its own on several ranks of this machine."""

from __future__ import annotations

from typing import Any

from IPython.core.magic import Magics, cell_magic, magics_class

from gpukit import files, interrupts
from gpukit.errors import FileError, RankError
from gpukit.parallel import launcher


@magics_class
class Ranks(Magics):
    """The magic `ranks`."""

    @cell_magic
    def ranks(self, line: str, cell: str) -> None:
        """Run a cell as a program on N ranks; it shares no names with the other cells.

            %%ranks 2
            from gpukit import parallel
            world = parallel.World()

        A second number is the deadline in seconds: no rank waits longer for another one.
        """
        try:
            count, deadline = _numbers(line)
            with files.temporary("cell.py", cell) as script:
                outcome = launcher.run(count, [str(script)], deadline=deadline)
            if outcome.sentence:
                raise RankError(outcome.sentence)
        except (RankError, FileError) as error:
            lines = [f"{type(error).__name__}: {error}"]
            error._render_traceback_ = lambda: lines  # type: ignore[union-attr]  # IPython asks
            raise
        except KeyboardInterrupt as stopped:
            words = f"%%ranks {line.strip()} was stopped by Ctrl-C: its ranks were ended"
            raise interrupts.brief(stopped, words) from None


def _numbers(line: str) -> tuple[int, float | None]:
    words = line.split()
    try:
        ranks, *rest = int(words[0]), *map(float, words[1:])
        if ranks < 1 or len(rest) > 1 or any(seconds <= 0 for seconds in rest):
            raise ValueError
    except (ValueError, IndexError):
        raise RankError(
            f"%%ranks: expected a number of ranks, and a deadline in seconds if you want, such as "
            f"`%%ranks 4` or `%%ranks 4 10`, got {line.strip()!r}."
        ) from None
    return ranks, rest[0] if rest else None


def register(shell: Any) -> None:
    """Add the magic to a notebook."""
    shell.register_magics(Ranks)
