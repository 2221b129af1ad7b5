"""Attacks on real programs, for as long as an operator wants to watch them fail."""
