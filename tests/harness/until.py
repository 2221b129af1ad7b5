"""Waits for conditions: a test names what it waits for and the timeout, and never sleeps."""

from dev.servers.process import MAX_WAIT_S, until

__all__ = ["MAX_WAIT_S", "until"]
