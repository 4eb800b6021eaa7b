"""Written with Notepad: lines end with CR and LF."""

from gpukit import cuda


@cuda.jit
def broadcast_kernel(left, top, out):
    """Write left[r] + top[c] to out[r, c]."""
    c, r = cuda.grid(2)

    if r >= out.shape[0] or c >= out.shape[1]:
        return

    out[r, c] = left[r] \
        + top[c]
