"""Grade a class: submissions of strangers, read, run in a sandbox, and reported on."""
