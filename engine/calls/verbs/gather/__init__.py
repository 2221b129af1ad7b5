"""gather: collects digits, or understands speech."""
