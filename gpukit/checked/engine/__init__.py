"""What instrumented kernels call: shadow memory, races, counters, events. Numba compiles it."""
