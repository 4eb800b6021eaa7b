"""The checker of parallel programs: runs them on virtual ranks and says what is wrong.

`check` is the command. `recording` runs a program and records what every rank did: `operations` the
messages and collective operations, `steps` the updates of parameters and the dropout masks. From
the records `waiting` explains deadlocks, `masks` looks at dropout, and `comparison` compares the
ranks with each other and with one process: gradients (`cases`, which `explanations` explains),
parameters (`values`, `averages`), `activations` and `results`. `findings` lists the classes of
findings and makes the report.
"""
