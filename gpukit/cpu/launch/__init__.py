"""From `kernel[grid, block](*arguments)` to blocks running on all cores."""
