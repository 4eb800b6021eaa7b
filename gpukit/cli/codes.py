"""The exit codes of all commands."""

WELL, FINDINGS, MISUSE, MACHINE, INTERRUPTED = 0, 1, 2, 3, 130
