from gpukit import cuda


@cuda.jit
def zip_add_kernel(a, b, out):
    <script>alert(1)</script> [link](javascript:alert(1)) ]]> [2J ]0;title  =cmd()
