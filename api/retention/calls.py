"""Removes calls with their recordings."""

from collections.abc import Iterator
from typing import Self

import msgspec
import structlog
from msgspec import Struct

from api.accounts.cache import AccountCache
from api.cdrs.removal import CdrRemoval, StoredCall
from api.cdrs.store import CdrStore
from api.common.clock import Clock
from api.common.errors import NotFound
from api.common.recording_paths import RecordingPath, path_of_url
from api.engine_client import EngineClient
from api.http.services import CommonServices
from api.transcripts.store import TranscriptStore
from wire.decoding.messages import decode_message
from wire.events.record import CallRecord, RecordingRecord

ARCHIVED_WITHIN_MS = 86_400_000  # of its call's end: later, a missing recording is lost
GONE = frozenset({"lost", "deleted"})
log = structlog.get_logger()


class CallRemoval(Struct, frozen=True):
    removal: CdrRemoval
    cdrs: CdrStore
    transcripts: TranscriptStore
    engine: EngineClient
    accounts: AccountCache
    now_ms: Clock

    @classmethod
    def build(cls, common: CommonServices) -> Self:
        database = common.database
        return cls(
            CdrRemoval(database),
            CdrStore(database),
            TranscriptStore(database),
            common.engine,
            common.account_cache,
            common.now_ms,
        )

    async def remove(self, call: StoredCall) -> int | None:
        """Remove a call and its recordings; return how many recordings it had.

        None: a recording is still to be archived, and the call is left: without its record,
        nothing would lead to the recording.
        """
        removed = await self.remove_recordings(call)
        if removed is not None:
            await self.removal.remove(call, await self.accounts.region(call.account_id))
        return removed

    async def remove_recordings(self, call: StoredCall) -> int | None:
        """Remove a call's recordings, and first their transcripts; return how many, or None."""
        await self.transcripts.remove_call(call.account_id, call.req_id)
        removed = 0
        for recording, path in _recordings(call):
            try:
                await self.engine.request_raw("DELETE", f"/recordings/{path.text}")
                removed += 1
            except NotFound:
                if self._may_come(call, recording):
                    return None
            await self.cdrs.mark_recording_deleted(call.account_id, call.req_id, path.text)
        return removed

    def _may_come(self, call: StoredCall, recording: RecordingRecord) -> bool:
        record = decode_message(call.record, CallRecord)
        is_recent = self.now_ms() - record.ended_ms < ARCHIVED_WITHIN_MS
        return recording.state == "ended" and is_recent


def _recordings(call: StoredCall) -> Iterator[tuple[RecordingRecord, RecordingPath]]:
    try:
        record = decode_message(call.record, CallRecord)
    except msgspec.DecodeError as error:
        log.warning("call record not readable", call_id=call.req_id, error=str(error))
        return
    for each in record.recordings:
        path = path_of_url(record.account_id, each.url)
        if path is not None and each.state not in GONE:
            yield each, path
