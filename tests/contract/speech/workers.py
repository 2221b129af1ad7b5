"""The worker processes of a server."""

from pathlib import Path


def children(pid: int) -> list[int]:
    """Return the processes that a process has started."""
    listed = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(each) for each in listed.split()]


def running(pids: list[int]) -> list[int]:
    """Return those processes that have not ended."""
    return [pid for pid in pids if Path(f"/proc/{pid}").exists()]
