"""Kernels on the CPU target against the same algorithm as plain numba loops: `run.py`."""
