"""The error codes of all programs: what each means, what causes it, and what to do."""
