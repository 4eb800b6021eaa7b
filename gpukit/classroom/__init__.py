"""For teachers: make exercises, release them to students, and grade what comes back."""
