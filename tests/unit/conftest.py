"""Checks of unit tests: they start no program, open no port, and never block the loop."""

import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
FORBIDDEN = {"socket.bind", "socket.connect", "subprocess.Popen", "os.fork", "os.posix_spawn"}
CHECKED_FOR_BLOCKING = {
    "api",
    "callbacks",
    "runtime",
    "store",
}  # where calls and requests share the loop


class ProcessAudit:
    """Records what the running test does outside its process."""

    def __init__(self) -> None:
        self.is_watched = False
        self.seen: list[str] = []

    def record(self, event: str, _arguments: tuple[Any, ...]) -> None:
        """Record an audit event of the interpreter (PEP 578)."""
        if self.is_watched and event in FORBIDDEN:
            self.seen.append(event)


@cache  # audit hooks can't be removed
def _audit() -> ProcessAudit:
    audit = ProcessAudit()
    sys.addaudithook(audit.record)
    return audit


@pytest.fixture(autouse=True)
def no_processes() -> Iterator[None]:
    """Fail a test that belongs to another ring."""
    audit = _audit()
    audit.is_watched = True
    yield
    audit.is_watched = False
    seen, audit.seen = audit.seen, []
    assert not seen, f"{seen} in a unit test: it belongs to tests/contract"


@pytest.fixture(autouse=True)
def no_blocking(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test in which the product blocks the loop."""
    if request.path.relative_to(HERE).parts[0] not in CHECKED_FOR_BLOCKING:
        yield
        return
    from blockbuster import blockbuster_ctx  # noqa: PLC0415 - most tests do without

    with blockbuster_ctx(["api", "engine"]) as found:
        for function in found.functions.values():  # structlog's console, in development only
            function.can_block_in("structlog/dev.py", "__call__")
        yield
