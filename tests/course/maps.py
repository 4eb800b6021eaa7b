"""A right answer to the exercise guarded_map, in pieces."""

HEAD = "import numpy as np\nfrom gpukit import cuda\n\n"
KERNEL = "@cuda.jit\ndef fahrenheit_kernel(celsius, fahrenheit):\n"
MAP = HEAD + KERNEL
GOOD_MAP = """
    i = cuda.grid(1)
    if i < celsius.shape[0]:
        fahrenheit[i] = celsius[i] * np.float32(1.8) + np.float32(32)
"""
RIGHT = MAP + GOOD_MAP
CELL = KERNEL + GOOD_MAP[1:]  # a notebook cell, with the imports in another cell
