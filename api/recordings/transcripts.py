"""The transcripts of an account's recordings: shown, requested, removed with their recordings."""

from msgspec import Struct

from api.accounts.store import AccountStore
from api.auth.principal import Principal
from api.cdrs.store import CdrStore
from api.cdrs.views import ABSENT_STATES
from api.common.errors import Conflict, NotFound
from api.common.recording_paths import RecordingPath, path_of_url
from api.common.timestamps import format_ms
from api.recordings.schemas import TranscriptView
from api.transcripts.queue import TranscriptQueue
from api.transcripts.store import States, Transcript, TranscriptStore
from wire.decoding.messages import decode_message
from wire.events.record import CallRecord


class RecordingTranscripts(Struct, frozen=True):
    cdrs: CdrStore
    accounts: AccountStore
    store: TranscriptStore
    queue: TranscriptQueue

    async def get(self, path: RecordingPath) -> TranscriptView:
        """Return a transcript, or how far it is; raises NotFound."""
        found = await self.store.get(path)
        if found is None:
            raise NotFound(
                "this recording has no transcript, and none is being made", "not_transcribed"
            )
        return _view(path, found)

    async def request(self, path: RecordingPath) -> TranscriptView:
        """Queue a recording of an ended call; raises NotFound or Conflict."""
        if (await self.accounts.get(path.account_id)).transcripts is None:
            raise Conflict("the account has no transcripts", "transcripts_off")
        if not await self._exists(path):
            raise NotFound("no recording of an ended call")
        await self.queue.request(path)
        return await self.get(path)

    async def remove(self, path: RecordingPath) -> None:
        await self.store.remove(path)

    async def states(self, user: Principal, call_ids: list[str]) -> States:
        return await self.store.states(user.account_id, call_ids)

    async def _exists(self, path: RecordingPath) -> bool:
        row = await self.cdrs.get(path.account_id, path.call_id)
        if row is None:
            return False
        record = decode_message(row.record, CallRecord)
        return any(
            path_of_url(path.account_id, each.url) == path and each.state not in ABSENT_STATES
            for each in record.recordings
        )


def _view(path: RecordingPath, found: Transcript) -> TranscriptView:
    has_failed = found.state == "failed"
    return TranscriptView(
        call_id=path.call_id,
        state=found.state,
        reason=found.reason if has_failed else None,
        detail=found.detail if has_failed else None,
        recognizer=found.recognizer,
        language=found.language,
        duration_ms=found.duration_ms,
        created_time=format_ms(found.created_ms),
        ended_time=format_ms(found.ended_ms) if found.ended_ms else None,
        segments=found.segments,
    )
