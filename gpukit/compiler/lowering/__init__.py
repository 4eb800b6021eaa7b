"""From a normal form to a plan of loops over threads; from CUDA names to what loops provide."""
