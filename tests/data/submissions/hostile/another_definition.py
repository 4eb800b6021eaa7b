from gpukit import cuda

DEFINITION
