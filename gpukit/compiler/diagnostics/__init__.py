"""Error messages for kernels that Numba rejects."""
