"""Injects faults into media streams and speech, and measures what callers notice."""
