"""What engines and phones of the harness leave for the report of a test that fails.

The session of pytest has one collector. Outside of it, in tools, nothing is collected.
"""

import ssl
import time
from collections.abc import Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Protocol

from tests.harness.evidence.lag import LagMeter
from tests.harness.evidence.machine import MachineUse

Trust = ssl.SSLContext | bool  # of a server of https


class CollectedEngine(Protocol):
    """An engine, whose calls have timelines."""

    url: str
    token: str
    trust: Trust

    def running(self) -> bool: ...


class CollectedMessage(Protocol):
    """A SIP message of a phone; at_ms is monotonic."""

    @property
    def at_ms(self) -> float: ...

    @property
    def is_sent(self) -> bool: ...

    @property
    def text(self) -> str: ...

    @property
    def first_line(self) -> str: ...

    @property
    def status(self) -> int: ...

    @property
    def method(self) -> str: ...


class CollectedPhone(Protocol):
    """A phone: its SIP messages, and the audio that it has received."""

    name: str

    @property
    def messages(self) -> Sequence[CollectedMessage]: ...

    @property
    def frames(self) -> Sequence[Any]: ...

    def write_wav(self, path: Path) -> None: ...


class Collector:
    """The engines of the session, and what belongs to the current test."""

    def __init__(self) -> None:
        self.meter = LagMeter()
        self.engines: list[CollectedEngine] = []
        self.begin()

    def begin(self) -> None:
        """Begin a test."""
        self.began_ms, self.began_monotonic_ms = time.time() * 1000, time.monotonic() * 1000
        self.use_before = MachineUse.now()
        self.engines = [each for each in self.engines if each.running()]
        self.phones: list[CollectedPhone] = []
        self.timelines: dict[str, str] = {}  # by call, of engines that a failure has stopped
        self.meter.begin()


_current: ContextVar[Collector] = ContextVar("collector")


def start_collecting(collector: Collector) -> None:
    """Let what starts from now on report to this collector."""
    _current.set(collector)


def collector_of_session() -> Collector | None:
    """Return the collector of pytest's session; None outside of one."""
    return _current.get(None)


def collect_engine(engine: CollectedEngine) -> None:
    """Report an engine that has started."""
    collector = collector_of_session()
    if collector is not None and engine not in collector.engines:
        collector.engines.append(engine)


def collect_phone(phone: CollectedPhone) -> None:
    """Report a phone."""
    collector = collector_of_session()
    if collector is not None:
        collector.phones.append(phone)
