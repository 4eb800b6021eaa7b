"""All access patterns by name.

`tests/checked/test_counters.py` compares gpukit's counters with them,
`benchmarks/counters_on_gpu.py` those of a GPU.
"""

from __future__ import annotations

from tests.checked.access import in_global, in_shared
from tests.checked.access.pattern import Pattern

PATTERNS: dict[str, Pattern] = {
    pattern.name: pattern for group in (*in_global.GROUPS, *in_shared.GROUPS) for pattern in group()
}
