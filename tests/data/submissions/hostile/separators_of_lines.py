from gpukit import cuda

# A comment for Python: import os; os.system("touch /tmp/GPUKIT_ESCAPED_CASE_ID")
# So is this one:open("/tmp/GPUKIT_ESCAPED_CASE_ID", "w")  raise SystemExit
ZERO = len(" ") - 2


@cuda.jit
def zip_add_kernel(a, b, out):
    i = cuda.grid(1) + ZERO  #      out[0] = exec
    if i < out.size:
        out[i] = a[i] + b[i]
