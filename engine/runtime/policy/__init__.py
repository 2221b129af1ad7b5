"""Who may be called, with which caller id."""
