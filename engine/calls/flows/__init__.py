"""Nodes, templates and variables of stored flows, and the audio that an action tree needs."""
