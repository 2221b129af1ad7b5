"""Code that `make docs` generates from the shapes of the engine and the REST layer."""
