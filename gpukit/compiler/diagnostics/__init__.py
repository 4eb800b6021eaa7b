"""What is said of kernels that are refused."""
