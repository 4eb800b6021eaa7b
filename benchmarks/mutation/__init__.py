"""Mistakes put into the book's kernels on purpose, to see whether checked mode finds them."""
