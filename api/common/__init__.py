"""Helpers that every slice uses: errors, clock, timestamps, CSV, e-mail."""
