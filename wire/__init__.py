"""Shapes that cross a process boundary; imports nothing of ours."""
