"""Paths of what is asked, below /rpc/v1."""

from urllib.parse import quote


def path_of(*steps: str) -> str:
    """Make a path of steps as they were typed: `#`, `?` and `/` are signs like others."""
    return "".join(f"/{quote(step, safe='')}" for step in steps)
