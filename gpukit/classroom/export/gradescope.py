"""An autograder for Gradescope: `autograder.zip`, which grades with gpukit in their container.

https://gradescope-autograders.readthedocs.io/en/latest/specs describes the folders of the container
and the format of `results.json`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gpukit
from gpukit.classroom.export import base
from gpukit.classroom.export.base import Files
from gpukit.classroom.export.mark import Mark
from gpukit.course.catalogue import Exercise

_SETUP = f"""\
#!/usr/bin/env bash
# Gradescope runs this as root, once, when it builds the image of the autograder.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq python3 python3-venv bubblewrap
python3 -m venv /opt/gpukit
/opt/gpukit/bin/python -m pip install --quiet --find-links /autograder/source "{base.REQUIREMENT}"
export GPUKIT_CACHE_DIR=/opt/gpukit/cache # where the sandbox's user may read
# Compile the checker now, so that the first submission need not wait for it.
/opt/gpukit/bin/{base.WARM_UP}
"""
_RUN = """\
#!/usr/bin/env bash
# Gradescope runs this for each submission. The variables are for trying it elsewhere.
set -euo pipefail
autograder=${AUTOGRADER:-/autograder}
python=${GPUKIT_PYTHON:-/opt/gpukit/bin/python}
export GPUKIT_CACHE_DIR=${GPUKIT_CACHE_DIR:-/opt/gpukit/cache}
cd "$autograder/source" # never where a student's files could be imported
exec "$python" -m gpukit.classroom.export.machine gradescope \\
    "$autograder/source/exercises" "$autograder/submission" "$autograder/results/results.json"
"""
_README = """\
Upload `autograder.zip` as the autograder of your assignment. Choose a base image with Ubuntu 22.04
or newer, whose Python is new enough. Its `setup.sh` installs `{requirement}`. {source}

Students hand in one file per exercise, or a notebook with cells `%%exercise NAME`:

{expected}

`gpukit export ... --to zip` writes what they need to work with.

The archive contains no solutions. If grading fails, there are no results, and Gradescope reports an
error, not a mark.
"""


def files(name: str, exercises: Sequence[Exercise]) -> Files:
    """Return the archive and the page for the teacher."""
    expected = base.expected(exercises)
    source = base.SOURCE.format(place="into the archive, beside `setup.sh`")
    words = _README.format(requirement=base.REQUIREMENT, source=source, expected=expected)
    return {
        "README.md": base.readme(f"{name} for Gradescope", words, base.ON_MACHINE),
        "autograder.zip": base.archive(
            {
                "setup.sh": base.text(_SETUP, executable=True),
                "run_autograder": base.text(_RUN, executable=True),
                **base.public(exercises),
            }
        ),
    }


def result(marks: Sequence[Mark]) -> dict[str, Any]:
    """Return what `results.json` says about a submission."""
    earned, total = sum(m.points for m in marks), sum(m.of for m in marks)
    return {
        "score": earned,
        "output": f"{earned} of {total} points.",
        "output_format": "text",
        "test_output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "extra_data": {"gpukit": gpukit.__version__, "status": {m.name: m.status for m in marks}},
        "tests": [
            {
                "name": f"{mark.exercise.title} ({mark.name}): {test.name}",
                "score": test.points if mark.passes(test) else 0,
                "max_score": test.points,
                "status": "passed" if mark.passes(test) else "failed",
                "output": mark.said(test),
                "visibility": "visible",
            }
            for mark in marks
            for test in mark.tests
        ],
    }
