"""What is known of a kernel: types, which values vary, ranges of indices. Nothing is changed."""
