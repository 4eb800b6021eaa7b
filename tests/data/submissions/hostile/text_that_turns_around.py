from gpukit import cuda

# In an editor that obeys these characters the letters are shown in another order than they are in.
user = "teacher‮ ⁦# if user is a student⁩ ⁦"
ZERO = 0 if user == "teacher" else 1


@cuda.jit
def zip_add_kernel(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i] * (1 - ZERO)  # ‮⁦ all right
