"""The engine's log while worlds run: dropped, except for entries that must never occur."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import structlog

FORBIDDEN = ("call dropped", "a call's node is not configured")


@contextmanager
def silenced_log() -> Iterator[list[str]]:
    """Drop the log; yield the list of forbidden entries."""
    before = structlog.get_config()
    found: list[str] = []

    def drop(_logger: object, _level: str, said: Any) -> Any:
        if said["event"] in FORBIDDEN:
            found.append(repr({k: v for k, v in said.items() if k != "exc_info"}))
        raise structlog.DropEvent

    structlog.configure(processors=[structlog.processors.format_exc_info, drop])
    try:
        with warnings.catch_warnings():
            # The coroutines of a crashed engine are never finished.
            warnings.simplefilter("ignore", RuntimeWarning)
            yield found
    finally:
        structlog.configure(**before)
