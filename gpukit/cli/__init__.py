"""The command line: `gpukit doctor`, `gpukit test block_sum`, and so on.

Nothing is imported here that Python has not loaded itself: `gpukit --help` must respond at once,
and a Ctrl-C during an import must arrive in `main`. So each command imports what it needs
when it runs. This package is the only one in gpukit that prints.
"""

from __future__ import annotations

import io
import os
import sys

from gpukit.cli.codes import FINDINGS, INTERRUPTED, MACHINE, MISUSE, WELL

__all__ = ["FINDINGS", "INTERRUPTED", "MACHINE", "MISUSE", "WELL", "main"]

TYPE_CHECKING = False  # that of typing would import typing
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code, one of `codes`, or that of a script."""
    _escape_what_the_terminal_cannot_show()
    try:
        code = _run(argv)
        sys.stdout.flush()  # a full disk raises here, where it can be reported
        return code
    except KeyboardInterrupt:
        print("gpukit: stopped.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of the pipe has exited, as in `gpukit list | head -1`.
        _give_up_output()
        return FINDINGS
    except Exception as error:
        from gpukit.cli import failure, show

        if not failure.known(error):
            raise
        try:
            sys.stdout.flush()  # results are printed before the error
        except OSError:
            _give_up_output()
        show.error(failure.sentence(error))
        return failure.code(error)


def _run(argv: Sequence[str] | None) -> int:
    from gpukit.cli import parser

    line = parser.build()
    if not (sys.argv[1:] if argv is None else argv):
        line.print_help(sys.stderr)
        line.exit(MISUSE)
    arguments = parser.read(line, argv)
    return int(parser.command(arguments.command)(arguments))


def _escape_what_the_terminal_cannot_show() -> None:
    r"""Write `\xe9` to a terminal that only supports ASCII, as Python does on standard error."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")


def _give_up_output() -> None:
    """Redirect output that nothing reads any more, so that Python exits without an error."""
    import contextlib

    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
