"""The book of kernels: one file per topic, read from top to bottom.

Every file has the same order: a legend of its short names, the reference in NumPy and float64,
the kernels from the simplest up, each with its cost beside it, the host functions that check
arguments and launch, and `LADDER`, the order to read the kernels in.
"""
