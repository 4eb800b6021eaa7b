from gpukit import cuda


@cuda.jit
def mirror_kernel(photo, out):
	col, row = cuda.grid(2)
	rows, cols = out.shape
	if row < rows:
		if col < cols:
			out[row, cols - col - 1] = photo[row, col]	# a tab before the comment
