"""Pictures of the docs, drawn by code."""
