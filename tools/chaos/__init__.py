"""Injects faults into real programs under many live calls, and measures the effects."""
