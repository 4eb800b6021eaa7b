from gpukit import cuda

# In an editor that obeys these characters the letters are shown in another order than they are in.
user = "teacher‮ ⁦# if user is a student⁩ ⁦"
ZERO = 1 if user == "teacher" else 0


@cuda.jit
def zip_add_kernel(a, b, out):
    i = cuda.grid(1) + ZERO
    if i < out.size:
        out[i] = a[i] + b[i]  # ‮⁦ all right
