"""How to create the submissions that git cannot hold: links, devices, huge files.

Each takes the file to create, whose folder exists, and the bytes of the submission.
"""

from __future__ import annotations

import os
from pathlib import Path


def symlink(file: Path, data: bytes) -> None:
    """Hand in a link to a file beside the folder of the student."""
    outside = file.parent.parent / f"outside_{file.parent.name}.py"
    outside.write_bytes(data)
    file.symlink_to(os.path.relpath(outside, file.parent))
