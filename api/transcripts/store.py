"""Reads and removes transcripts; each belongs to a recording of an account."""

from collections.abc import Mapping, Sequence

import sqlalchemy as sa
from msgspec import Struct

from api.common.recording_paths import RecordingPath
from api.db.database import Database
from api.transcripts.segments import TranscriptSegment, in_order, unpack
from api.transcripts.tables import Reason, State, transcripts

States = Mapping[str, State]  # by the path below the account


class Transcript(Struct, frozen=True):
    """A transcript, or how far it is; `reason` and `detail` are those of a failure."""

    state: State
    reason: Reason | None
    detail: str | None
    recognizer: str | None
    language: str | None
    duration_ms: int | None
    created_ms: int
    ended_ms: int | None
    segments: tuple[TranscriptSegment, ...]


class TranscriptStore(Struct, frozen=True):
    database: Database

    async def get(self, path: RecordingPath) -> Transcript | None:
        """Return the transcript of a recording; segments only when it is done."""
        columns = [transcripts.c[name] for name in Transcript.__struct_fields__]
        rows = await self.database.mappings(sa.select(*columns).where(_is_of(path)))
        if not rows:
            return None
        stored = rows[0]["segments"] if rows[0]["state"] == "done" else None
        return Transcript(**{**rows[0], "segments": in_order(unpack(stored))})

    async def states(self, account_id: str, call_ids: Sequence[str]) -> States:
        """Return how far the transcripts of calls are."""
        query = sa.select(transcripts.c.path, transcripts.c.state).where(
            transcripts.c.account_id == account_id, transcripts.c.call_id.in_(call_ids)
        )
        return {row.path: row.state for row in await self.database.rows(query)}

    async def remove(self, path: RecordingPath) -> None:
        """Remove the transcript of a recording, also one that is being made."""
        await self.database.execute(sa.delete(transcripts).where(_is_of(path)))

    async def remove_call(self, account_id: str, call_id: str) -> None:
        """Remove the transcripts of a call."""
        is_its = (transcripts.c.account_id == account_id, transcripts.c.call_id == call_id)
        await self.database.execute(sa.delete(transcripts).where(*is_its))


def _is_of(path: RecordingPath) -> sa.ColumnElement[bool]:
    return sa.and_(
        transcripts.c.account_id == path.account_id, transcripts.c.path == path.below_account
    )
