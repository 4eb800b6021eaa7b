"""From `kernel[grid, block](*arguments)` to blocks on all cores."""
