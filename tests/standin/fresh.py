"""Run code in a separate Python process, because imports have lasting effects."""

import os
import subprocess
import sys
import textwrap

from tests.conftest import ROOT

BEGIN = "import gpukit.standin as s; s.install()\n"


def python(code, cwd=None, **environment):
    """Run code in a fresh Python process with gpukit on its path; return its output."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("GPUKIT", "NUMBA"))}
    env |= {"PYTHONPATH": str(ROOT), "GPUKIT_TARGET": "cpu", **environment}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code)],
        env=env,
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()
