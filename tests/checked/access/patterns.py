"""All access patterns by name.

gpukit's counters are held against them in `tests/checked/test_counters.py`, those of a GPU in
`benchmarks/counters_on_gpu.py`.
"""

from __future__ import annotations

from tests.checked.access import in_global, in_shared
from tests.checked.access.pattern import Pattern

PATTERNS: dict[str, Pattern] = {
    pattern.name: pattern for group in (*in_global.GROUPS, *in_shared.GROUPS) for pattern in group()
}
