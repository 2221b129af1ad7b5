"""Protects the secrets of this process, and of the files that it writes."""

import os

from base.sandbox.prctl import hide_memory

_PRIVATE = 0o077


def protect_process() -> None:
    """Hide the memory from other processes, and create files that only their owner reads."""
    hide_memory()
    os.umask(_PRIVATE)
