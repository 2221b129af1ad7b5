"""What every part of one engine uses: its store, clock, metrics and random numbers."""

import os
import random
from collections.abc import Callable

from msgspec import Struct, field

from engine.observe.metrics import Metrics
from engine.runtime.base.clock import Clock
from engine.store.store import Store


def _no_trace(_call: str) -> None:
    pass


class EngineContext(Struct, frozen=True):
    """`link_call` connects the trace of the current request with the call that it is about."""

    store: Store
    clock: Clock
    metrics: Metrics = field(default_factory=Metrics)
    random: Callable[[], float] = random.random
    random_bytes: Callable[[int], bytes] = os.urandom
    link_call: Callable[[str], None] = _no_trace
    engine: str = ""  # its name among the engines
