"""What makes a test a unit test: it starts no program, opens no port, and never blocks the loop."""

import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
FORBIDDEN = {"socket.bind", "socket.connect", "subprocess.Popen", "os.fork", "os.posix_spawn"}
UNBLOCKED = {"api", "callbacks", "runtime", "store"}  # where calls and requests share the loop


class Outside:
    """Notes what the running test does outside its process."""

    def __init__(self) -> None:
        self.is_watched = False
        self.seen: list[str] = []

    def note(self, event: str, _arguments: tuple[Any, ...]) -> None:
        """Hear of an event of the interpreter (PEP 578)."""
        if self.is_watched and event in FORBIDDEN:
            self.seen.append(event)


@cache  # what hears of events cannot be taken away again
def _outside() -> Outside:
    outside = Outside()
    sys.addaudithook(outside.note)
    return outside


@pytest.fixture(autouse=True)
def inside() -> Iterator[None]:
    """Fail a test that belongs to another ring."""
    outside = _outside()
    outside.is_watched = True
    yield
    outside.is_watched = False
    seen, outside.seen = outside.seen, []
    assert not seen, f"a unit test does none of {seen}: it belongs to tests/contract"


@pytest.fixture(autouse=True)
def unblocked(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test in which the product blocks the loop."""
    if request.path.relative_to(HERE).parts[0] not in UNBLOCKED:
        yield
        return
    from blockbuster import blockbuster_ctx  # noqa: PLC0415 - most tests do without

    with blockbuster_ctx(["api", "engine"]) as found:
        for function in found.functions.values():  # structlog's own, in development only
            function.can_block_in("structlog/dev.py", "__call__")
        yield
