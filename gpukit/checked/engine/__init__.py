"""Functions that instrumented kernels call: shadow memory, races, counters, events."""
