"""The exit codes of all commands."""

# FINDINGS: an error was found, a test failed, or a script did. Warnings and notes leave WELL.
WELL, FINDINGS, MISUSE, MACHINE, INTERRUPTED = 0, 1, 2, 3, 130
