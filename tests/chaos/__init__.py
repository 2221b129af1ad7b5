"""Faults on real programs, with many live calls: what was lost, for how long, and what was left."""
