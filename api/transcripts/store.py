"""The table of transcripts, and reads of it.

Each recording that is, was or will be transcribed has one row: the job and its result. What has not
ended is in two small indexes: all by turn, and each account's.
"""

import zlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal

import msgspec
import sqlalchemy as sa
from msgspec import Struct

from api.common.recording_paths import RecordingPath
from api.db.columns import Key, Millis, Text
from api.db.database import Database, metadata

State = Literal["queued", "running", "done", "failed"]
Reason = Literal[
    "not_archived",  # the recording did not come, or was deleted
    "unreadable",
    "too_long",
    "unknown_recognizer",
    "rejected",  # by the recognizer: its language, say; or the account may not name it
    "no_capacity",  # no recognizer had time, or answered, for a day
    "recognizer_failed",  # in each attempt
    "interrupted",  # likewise: the process that transcribed it ended
]
transcripts = sa.Table(
    "transcripts",
    metadata,
    sa.Column("id", Key, primary_key=True, autoincrement=True),
    sa.Column("account_id", Text(64), nullable=False),
    sa.Column("path", Text(160), nullable=False),  # `{day}/{file}` of the recording
    sa.Column("call_id", Text(128), nullable=False),
    sa.Column("state", Text(16), nullable=False),
    sa.Column("reason", Text(32)),  # of the failure, or of the last attempt
    sa.Column("detail", sa.String(512)),
    sa.Column("recognizer", Text(32)),
    sa.Column("language", Text(64)),
    sa.Column("duration_ms", Millis),
    sa.Column("channels_done", sa.Integer, nullable=False),
    sa.Column("segments", sa.LargeBinary),  # of these channels
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("turn", sa.BigInteger, nullable=False),  # as that of jobs: api/jobs/store.py
    sa.Column("due_ms", Millis, nullable=False),  # while it runs: the end of its lease
    sa.Column("owner", Text(64)),
    sa.Column("created_ms", Millis, nullable=False),
    sa.Column("ended_ms", Millis),
    sa.Index("transcripts_by_path", "account_id", "path", unique=True),
    sa.Index("transcripts_by_call", "account_id", "call_id"),
    sqlite_autoincrement=True,
)
is_unfinished = transcripts.c.ended_ms.is_(None)
for _name, _columns in (("turn", ("turn", "due_ms")), ("account_turn", ("account_id", "turn"))):
    sa.Index(
        f"transcripts_by_{_name}",
        *(transcripts.c[each] for each in _columns),
        sqlite_where=is_unfinished,
        postgresql_where=is_unfinished,
    )
Channel = Literal["main", "other"]
CHANNELS: tuple[Channel, Channel] = ("main", "other")  # left and right; a voicemail has the first
PAGE_SIZE = 500
States = Mapping[str, State]  # by the path below the account


class TranscriptSegment(Struct, frozen=True, rename="camel"):
    """What was understood of an utterance; times in milliseconds of the recording.

    `main`: the main leg said it; `other`: the main leg heard it.
    """

    channel: Channel
    start_ms: int
    end_ms: int
    text: str
    confidence: float


_decode = msgspec.json.Decoder(tuple[TranscriptSegment, ...]).decode


def in_order(segments: Iterable[TranscriptSegment]) -> tuple[TranscriptSegment, ...]:
    """Return the segments of all channels in order of time."""
    return tuple(sorted(segments, key=lambda each: (each.start_ms, each.end_ms, each.channel)))


def pack(segments: Iterable[TranscriptSegment]) -> bytes:
    """Return what is stored of segments."""
    return zlib.compress(msgspec.json.encode(tuple(segments)))


def unpack(stored: bytes | None) -> tuple[TranscriptSegment, ...]:
    """Return stored segments."""
    return _decode(zlib.decompress(stored)) if stored is not None else ()


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
