"""What every new call has, inbound or outbound, and the ids of new calls."""

import os
from collections.abc import Callable

from msgspec import Struct

from engine.calls.model.recording import RecordingDestination


class NewCall(Struct, frozen=True):
    """What every new call has, inbound or outbound; times are in Unix milliseconds."""

    id: str
    created_ms: int
    must_end_ms: int
    recording_destination: RecordingDestination | None = None  # None: it can't be recorded


class CallIds:
    """Generates the last parts of call ids: unique, and sortable by time."""

    def __init__(self, random_bytes: Callable[[int], bytes] = os.urandom) -> None:
        self._random_bytes = random_bytes

    def new(self, now_ms: int) -> str:
        return f"{now_ms:011x}{self._random_bytes(6).hex()}"
