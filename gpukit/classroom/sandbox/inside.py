"""The warm process of a sandbox: `python -m gpukit.classroom.sandbox.inside SOCKET CONFINEMENT`.

It runs no answer itself. Each answer runs in a fork that confines itself before it reads a file.
"""

from __future__ import annotations

import json
import sys

from gpukit.classroom.sandbox import seccomp
from gpukit.classroom.sandbox.confine import Confinement
from gpukit.course import warm


def main() -> None:
    """Serve the grader that holds the other end of the socket."""
    number, given = sys.argv[1:]
    seccomp.hide()  # an answer of the same user might look into this process
    warm.serve(int(number), Confinement(**json.loads(given)).apply)


if __name__ == "__main__":
    main()
