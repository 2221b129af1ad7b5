"""The core: a call is a value and a step is a pure function, without clock, IO or randomness."""
