"""The core: a call is a value, a step is a function; no clock, no I/O, no randomness."""
