"""Do-not-call lists: numbers that an account must not call, told by token."""
