"""Admission settings, which hold for every call of this engine, and what they give a new call."""

import os
from collections.abc import Callable
from datetime import UTC, datetime

from msgspec import Struct

from engine.calls.model.recording import RecordingDestination
from engine.runtime.cluster.shard_map import ShardMap
from engine.runtime.policy.capacity_limits import UNLIMITED, CapacityLimits
from engine.runtime.shard.context import ShardContext
from wire.call_id_format import call_id


class NewCall(Struct, frozen=True):
    """What every new call has, inbound or outbound; times are in Unix milliseconds."""

    id: str
    created_ms: int
    must_end_ms: int
    recording_destination: RecordingDestination | None = None  # None: it can't be recorded
    trunks: int = 1
    region: str = ""  # of the account's numbers without a country; empty: not known


class AdmissionConfig(Struct, frozen=True):
    """The shards, the limits of this engine and of the trunk, and calls' defaults."""

    shards: ShardMap
    max_duration_ms: int
    caller_id: str = ""  # shown when a call names none
    recordings_url: str = ""  # base URL that recordings are published under; empty: no recordings
    trunk: CapacityLimits = UNLIMITED
    max_calls: int = 5_000  # live at once in this engine
    max_calls_per_s: float = 400
    trunks: int = 1

    def new_call(self, shard: ShardContext, account: str, suffix: str, now_ms: int) -> NewCall:
        """Return the id, times and recording destination of a call that starts in a shard."""
        return NewCall(
            call_id(shard.id, suffix),
            now_ms,
            now_ms + self.max_duration_ms,
            self._recording_destination(shard, account, now_ms),
            self.trunks,
            _region(shard, account),
        )

    def _recording_destination(
        self, shard: ShardContext, account: str, now_ms: int
    ) -> RecordingDestination | None:
        if shard.recorder is None or not self.recordings_url:
            return None
        day = datetime.fromtimestamp(now_ms / 1000, UTC).date()
        return RecordingDestination(self.recordings_url, f"{account}/{day}")


def _region(shard: ShardContext, account: str) -> str:
    policy = shard.endpoints.policy
    return (policy.known_region(account) or "") if policy else ""


class CallIdTails:
    """Generates the last parts of call ids: unique, and sortable by time."""

    def __init__(self, random_bytes: Callable[[int], bytes] = os.urandom) -> None:
        self._random_bytes = random_bytes

    def new(self, now_ms: int) -> str:
        return f"{now_ms:011x}{self._random_bytes(6).hex()}"
