"""Device memory and device arrays of the CPU target."""
