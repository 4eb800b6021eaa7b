"""Stand-in for Numba's CUDA runtime module: the CPU target has no runtime, and says so."""

from __future__ import annotations


class Runtime:
    """Stands in for the CUDA runtime."""

    def get_version(self) -> tuple[int, int]:
        """Return (-1, -1): no CUDA runtime is in use. Numba's simulator returns the same."""
        return (-1, -1)

    def is_supported_version(self) -> bool:
        """Return True: the CPU target needs no runtime."""
        return True

    @property
    def supported_versions(self) -> tuple[tuple[int, int], ...]:
        return ((-1, -1),)


runtime = Runtime()
