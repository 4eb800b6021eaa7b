"""Bring a Python function to a normal form: names resolved, calls inlined, jumps replaced."""
