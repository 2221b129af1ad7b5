"""Small helpers that every slice uses."""
