"""The command line: `gpukit doctor`, `gpukit test block_sum`, and so on.

Nothing heavy is imported here: `gpukit --help` has to answer at once, so each verb imports what
it needs when it runs. This package is the only place in gpukit that prints.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

WELL, FINDINGS, MISUSE, MACHINE, INTERRUPTED = 0, 1, 2, 3, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit code: 0 well, 1 findings, 2 misuse, 3 machine's fault."""
    from gpukit.cli import parser

    line = parser.build()
    if not (sys.argv[1:] if argv is None else argv):
        line.print_help(sys.stderr)
        line.exit(MISUSE)
    arguments = line.parse_args(argv)
    try:
        return int(parser.verb(arguments.verb)(arguments))
    except KeyboardInterrupt:
        print("gpukit: stopped.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader went away, as in `gpukit list | head -1`. Keep Python's exit quiet too.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINDINGS
    except Exception as error:
        from gpukit import errors

        if not isinstance(error, errors.GpukitError):
            raise
        return _refuse(error)


def _refuse(error: Exception) -> int:
    """Print an error of gpukit's own in one paragraph, without a traceback."""
    print(f"gpukit: error: {_without_prefix(str(error))}", file=sys.stderr)
    return _code(error)


def _without_prefix(text: str) -> str:
    return text.removeprefix("gpukit: ")


def _code(error: Exception) -> int:
    """Return the exit code that belongs to an error."""
    from gpukit import errors

    if isinstance(error, errors.TargetError) or type(error).__name__ == "Unwritable":
        return MACHINE
    # Raised by the verbs about their own arguments; the kernels' errors are findings.
    return (
        MISUSE
        if type(error).__name__ in ("ExerciseError", "WorkbookError", "ScriptError", "BenchError")
        else FINDINGS
    )
