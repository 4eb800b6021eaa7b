"""Lower the normal form to a plan of loops over threads, and CUDA names to loop variables."""
