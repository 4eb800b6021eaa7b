"""Analyses of a kernel: types, which values vary, ranges of indices. Only some mark nodes."""
