"""My answer."""

# It is only a question of time.
