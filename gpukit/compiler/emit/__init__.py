"""Emit the plan of a kernel as Python loops, with the calls that instrument them."""
