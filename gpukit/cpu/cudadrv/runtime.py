"""The CUDA runtime's place: the CPU target has none and says so."""

from __future__ import annotations


class Runtime:
    """Stands where the CUDA runtime would."""

    def get_version(self) -> tuple[int, int]:
        """Return (-1, -1): no CUDA runtime is in use. Numba's simulator answers the same."""
        return (-1, -1)

    def is_supported_version(self) -> bool:
        """Return True: the CPU target needs no runtime."""
        return True

    @property
    def supported_versions(self) -> tuple[tuple[int, int], ...]:
        return ((-1, -1),)


runtime = Runtime()
