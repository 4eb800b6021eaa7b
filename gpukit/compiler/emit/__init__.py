"""Write the plan of a kernel as Python loops, and what instrumented kernels add to them."""
