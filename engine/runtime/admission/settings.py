"""What holds for every call, and how calls that begin are named."""

import os
from collections.abc import Callable
from datetime import UTC, datetime

from msgspec import Struct

from engine.calls.model.recording import Archive
from engine.runtime.admission.limits import ANY, Terms
from engine.runtime.shard.context import ShardContext


class Rules(Struct, frozen=True):
    """What holds for every call: how many slots there are, how long it may live, what it shows."""

    slots: int
    longest_ms: int
    caller_id: str = ""
    recordings: str = ""  # the address that recordings are told below; none are kept without
    trunk: Terms = ANY

    def archive(self, place: ShardContext, account: str, now_ms: int) -> Archive | None:
        """Choose where a call's recordings will be filed, if they can be."""
        if place.tapes is None or not self.recordings:
            return None
        day = datetime.fromtimestamp(now_ms / 1000, UTC).date()
        return Archive(self.recordings, f"{account}/{day}")


class Tails:
    """The last parts of calls' ids: sortable by time, and never the same."""

    def __init__(self, random_bytes: Callable[[int], bytes] = os.urandom) -> None:
        self._random_bytes = random_bytes

    def new(self, now_ms: int) -> str:
        """Make one."""
        return f"{now_ms:011x}{self._random_bytes(6).hex()}"
