from gpukit import cuda
from gpukit.kernels.vector import vector_add_kernel as of_the_book

zip_add_kernel = of_the_book
