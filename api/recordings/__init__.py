"""Recordings: which there are, their audio, and signed addresses of it."""
