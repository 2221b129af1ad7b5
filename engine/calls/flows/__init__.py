"""Nodes, templates and variables of stored flows."""
