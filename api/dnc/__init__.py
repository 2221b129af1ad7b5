"""Do-not-call lists: numbers that an account must not call, changed with a token."""
