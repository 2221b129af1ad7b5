"""The table of error codes, a module for each group."""
