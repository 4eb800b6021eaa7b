"""One rank of `gpukit train`: `python -m gpukit.cli.one_rank script.py` in each process."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from gpukit.cli import FINDINGS, WELL, show


def main(argv: Sequence[str]) -> int:
    """Run `script.py a b` or `-m module a b` as `gpukit run` does; return its exit code.

    An error is reported as this rank's.
    """
    from gpukit.parallel import failure
    from gpukit.standin import script

    module = argv[0] == "-m"
    path, *arguments = argv[1:] if module else argv
    leave = failure.begin()
    try:
        code = script.run(path, arguments, "train", module=module).code
    except Exception as error:
        sys.excepthook(type(error), error, show.whole_traceback(error))
        return FINDINGS
    if code == WELL:
        leave()
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
