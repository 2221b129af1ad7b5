"""Pushes each account's dial policy to the engines."""
