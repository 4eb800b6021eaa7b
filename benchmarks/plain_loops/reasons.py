"""Why a kernel takes more than 1.25 times as long as its plain loops, by the name of its case."""

from __future__ import annotations

REASONS: dict[str, str] = {}
