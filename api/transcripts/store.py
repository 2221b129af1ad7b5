"""Reads and removes transcripts; each belongs to a recording of an account."""

from collections.abc import Collection, Mapping, Sequence

import sqlalchemy as sa
from msgspec import Struct

from api.common.recording_paths import RecordingPath
from api.db.database import Database
from api.transcripts.segments import CHANNELS, TranscriptSegment, in_order, unpack
from api.transcripts.tables import Reason, State, is_unfinished, transcripts

PAGE_SIZE = 500
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


class SpokenTexts(Struct, frozen=True):
    """What a transcript says, also of the channels that are done of one that is being made.

    The segments, and each channel as a whole: between two segments, a speaker pauses in a number.
    """

    path: str
    call_id: str
    texts: tuple[str, ...]


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

    async def texts_after(self, account_id: str, path: str, limit: int) -> list[SpokenTexts]:
        """Return the texts of an account's transcripts, in the order of their paths."""
        query = (
            sa.select(transcripts.c.path, transcripts.c.call_id, transcripts.c.segments)
            .where(transcripts.c.account_id == account_id, transcripts.c.path > path)
            .order_by(transcripts.c.path)
            .limit(limit)
        )
        return [
            SpokenTexts(path, call_id, _spoken(in_order(unpack(stored))))
            for path, call_id, stored in await self.database.rows(query)
        ]

    async def unfinished(self, account_id: str) -> frozenset[str]:
        """Return the paths of the transcripts that wait or are being made."""
        is_its = (is_unfinished, transcripts.c.account_id == account_id)
        rows = await self.database.rows(sa.select(transcripts.c.path).where(*is_its))
        return frozenset(path for (path,) in rows)

    async def stored(self, account_id: str, paths: Collection[str]) -> set[str]:
        """Return those of the paths that have a transcript, in whatever state."""
        wanted, found = list(paths), set[str]()
        for at in range(0, len(wanted), PAGE_SIZE):
            is_one = transcripts.c.path.in_(wanted[at : at + PAGE_SIZE])
            query = sa.select(transcripts.c.path).where(
                transcripts.c.account_id == account_id, is_one
            )
            found |= {path for (path,) in await self.database.rows(query)}
        return found

    async def remove(self, path: RecordingPath) -> None:
        """Remove the transcript of a recording, also one that is being made."""
        await self.database.execute(sa.delete(transcripts).where(_is_of(path)))

    async def remove_call(self, account_id: str, call_id: str) -> int:
        """Remove the transcripts of a call; return how many there were."""
        is_its = (transcripts.c.account_id == account_id, transcripts.c.call_id == call_id)
        return await self.database.execute(sa.delete(transcripts).where(*is_its))


def _spoken(segments: Sequence[TranscriptSegment]) -> tuple[str, ...]:
    channels = (
        " ".join(each.text for each in segments if each.channel == channel) for channel in CHANNELS
    )
    return *(each.text for each in segments), *channels


def _is_of(path: RecordingPath) -> sa.ColumnElement[bool]:
    return sa.and_(
        transcripts.c.account_id == path.account_id, transcripts.c.path == path.below_account
    )
