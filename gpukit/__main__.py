"""Run the command line: `python -m gpukit` is the same as `gpukit`."""

import sys

from gpukit.cli import main

sys.exit(main())
