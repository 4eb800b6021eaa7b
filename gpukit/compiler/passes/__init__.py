"""The passes of the compiler, one per file, in the order in which `pipeline` runs them."""
