"""The reference in docs, written from the shapes and their texts: `make docs`."""
