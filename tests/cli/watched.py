"""Parts of scripts for check, profile and play: first lines and launches."""

from tests.checked.scripts import KERNELS

HEAD = "\nimport sys\nimport numpy as np\nfrom numba import cuda\n" + KERNELS
RACE_LINE = 1 + HEAD.split("\n").index("    out[0] = cuda.threadIdx.x")
SOUND = "fill_kernel[3, 32](out)\n"
WARNED = "half_kernel[3, 32](x, out)\n"
WRONG = "collide_kernel[1, 32](one)\n"
COMMANDS = ("check", "profile", "play")
