"""The queue of recordings that are to be transcribed: rows with leases, in turn of their accounts.

A recording is queued in the transaction that writes its call's record. The process that claims it
holds a lease; when the process dies, the lease expires, and another one continues after the last
channel that was transcribed.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import sqlalchemy as sa
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy.ext.asyncio import AsyncConnection

from api.accounts.store import TranscriptSetting
from api.common.recording_paths import RecordingPath, path_of_url
from api.db.database import INSERTS, Store
from api.jobs.store import LEASE_MS, LeaseLost
from api.transcripts.store import (
    Reason,
    TranscriptSegment,
    is_unfinished,
    pack,
    transcripts,
    unpack,
)
from wire.decoding.texts import printable
from wire.events.record import CallRecord

MAX_ATTEMPTS = 5
RETRY_DELAY_MS = 10_000  # before the second attempt; four times as long before each one after
ARCHIVE_DELAY_MS = 30_000  # until recordings come that were not archived when their call ended
MAX_WAIT_MS = 86_400_000  # for the recording, or for a recognizer
MAX_DETAIL_CHARS = 500
_QUEUED_STATES = {"archived": 0, "ended": ARCHIVE_DELAY_MS}  # of recordings, and when they are due
_NEW: dict[str, Any] = {
    "state": "queued",
    "reason": None,
    "detail": None,
    "channels_done": 0,
    "segments": None,
    "attempts": 0,
    "ended_ms": None,
}


class Claim(Struct, frozen=True):
    """A recording that its owner transcribes, with the segments of channels that are done."""

    id: int
    account_id: str
    path: str
    owner: str
    attempts: int
    created_ms: int
    recognizer: str | None
    language: str | None
    channels_done: int
    segments: tuple[TranscriptSegment, ...]

    def with_setting(self, setting: TranscriptSetting) -> "Claim":
        """Return the claim without what another recognizer, or another language, gave."""
        if (self.recognizer, self.language) == (setting.recognizer, setting.language):
            return self
        return replace(
            self,
            recognizer=setting.recognizer,
            language=setting.language,
            channels_done=0,
            segments=(),
        )


class TranscriptQueue(Store):
    async def add(self, connection: AsyncConnection, records: Iterable[CallRecord]) -> None:
        """Queue the recordings of ended calls, within a transaction; those it has stay."""
        for record in records:
            for path, delay_ms in _recordings(record):
                row = await self._row(connection, path, delay_ms)
                insert = INSERTS[connection.dialect.name](transcripts)
                await connection.execute(insert.on_conflict_do_nothing(), row)

    async def request(self, path: RecordingPath) -> None:
        """Queue a recording now, unless it is queued or transcribed already."""
        async with self._database.writing() as connection:
            row = await self._row(connection, path, 0)
            insert = INSERTS[connection.dialect.name](transcripts)
            again = insert.on_conflict_do_update(
                index_elements=["account_id", "path"],
                set_={**row, "owner": None},
                where=transcripts.c.state == "failed",
            )
            await connection.execute(again, row)

    async def claim(self, owner: str) -> Claim | None:
        """Claim the next recording in turn, or one whose lease has expired."""
        now_ms = self._now_ms()
        due = (
            sa.select(transcripts.c.id)
            .where(is_unfinished, transcripts.c.due_ms <= now_ms)
            .order_by(transcripts.c.turn, transcripts.c.due_ms)
            .limit(1)
            .with_for_update(skip_locked=True)
            .scalar_subquery()
        )
        claimed = {
            "state": "running",
            "owner": owner,
            "due_ms": now_ms + LEASE_MS,
            "attempts": transcripts.c.attempts + 1,
        }
        columns = [transcripts.c[name] for name in Claim.__struct_fields__]
        change = sa.update(transcripts).where(transcripts.c.id == due).values(claimed)
        async with self._database.writing() as connection:
            row = (await connection.execute(change.returning(*columns))).mappings().first()
        return Claim(**{**row, "segments": unpack(row["segments"])}) if row else None

    async def renew(self, claim: Claim) -> None:
        """Renew a lease; raises LeaseLost."""
        await self._change(claim, due_ms=self._now_ms() + LEASE_MS)

    async def save_channel(self, claim: Claim, segments: Sequence[TranscriptSegment]) -> Claim:
        """Store the segments of one more channel, and return the claim with them."""
        claim = replace(
            claim,
            channels_done=claim.channels_done + 1,
            segments=(*claim.segments, *segments),
        )
        await self._change(
            claim,
            recognizer=claim.recognizer,
            language=claim.language,
            channels_done=claim.channels_done,
            segments=pack(claim.segments),
        )
        return claim

    async def finish(self, claim: Claim, duration_ms: int) -> None:
        """Store that all channels are transcribed; raises LeaseLost."""
        await self._end(
            claim,
            state="done",
            reason=None,
            detail=None,
            recognizer=claim.recognizer,
            language=claim.language,
            duration_ms=duration_ms,
            segments=pack(claim.segments),
        )

    async def fail(self, claim: Claim, reason: Reason, detail: str) -> None:
        """Store that a recording cannot be transcribed; raises LeaseLost."""
        text = printable(detail)[:MAX_DETAIL_CHARS]
        await self._end(claim, state="failed", reason=reason, detail=text, segments=None)

    async def retry(self, claim: Claim, reason: Reason, detail: str) -> None:
        """Store that an attempt failed; the last one ends it. Raises LeaseLost."""
        if claim.attempts >= MAX_ATTEMPTS:
            await self.fail(claim, reason, detail)
            return
        delay_ms = RETRY_DELAY_MS * 4 ** (claim.attempts - 1)
        await self._requeue(claim, delay_ms, reason, detail)

    async def postpone(self, claim: Claim, delay_ms: int, reason: Reason, detail: str) -> None:
        """Put a recording back, at most for a day; this was no attempt. Raises LeaseLost."""
        if self._now_ms() - claim.created_ms >= MAX_WAIT_MS:
            await self.fail(claim, reason, detail)
            return
        await self._requeue(claim, delay_ms, reason, detail, attempts=claim.attempts - 1)

    async def release(self, claim: Claim) -> None:
        """Leave a recording to another process at once; this was no attempt."""
        values = {"state": "queued", "due_ms": self._now_ms(), "attempts": claim.attempts - 1}
        change = sa.update(transcripts).where(_is_held(claim)).values(values)
        await self._database.execute(change)

    async def drop(self, claim: Claim) -> None:
        """Forget a recording: its account has no transcripts any more."""
        await self._database.execute(sa.delete(transcripts).where(_is_held(claim)))

    async def oldest_ms(self) -> int | None:
        """Return when the oldest recording was queued that is not transcribed yet."""
        oldest = sa.select(sa.func.min(transcripts.c.created_ms)).where(is_unfinished)
        found = await self._database.scalar(oldest)
        return None if found is None else int(found)

    async def expire(self) -> None:
        """End what has waited for more than a day, also where no process transcribes anything."""
        now_ms = self._now_ms()
        has_expired = sa.and_(
            is_unfinished,
            transcripts.c.created_ms <= now_ms - MAX_WAIT_MS,
            transcripts.c.due_ms <= now_ms,
        )
        ended = {
            "state": "failed",
            "reason": sa.func.coalesce(transcripts.c.reason, "no_capacity"),
            "detail": sa.func.coalesce(transcripts.c.detail, "no process transcribes recordings"),
            "segments": None,
            "ended_ms": now_ms,
        }
        await self._database.execute(sa.update(transcripts).where(has_expired).values(ended))

    async def _row(
        self, connection: AsyncConnection, path: RecordingPath, delay_ms: int
    ) -> dict[str, Any]:
        now_ms = self._now_ms()
        return {
            **_NEW,
            "account_id": path.account_id,
            "path": path.below_account,
            "call_id": path.call_id,
            "turn": await _next_turn(connection, path.account_id),
            "due_ms": now_ms + delay_ms,
            "created_ms": now_ms,
        }

    async def _requeue(
        self, claim: Claim, delay_ms: int, reason: Reason, detail: str, **more: int
    ) -> None:
        await self._change(
            claim,
            state="queued",
            due_ms=self._now_ms() + delay_ms,
            reason=reason,
            detail=printable(detail)[:MAX_DETAIL_CHARS],
            **more,
        )

    async def _end(self, claim: Claim, **values: Any) -> None:
        await self._change(claim, ended_ms=self._now_ms(), **values)

    async def _change(self, claim: Claim, **values: Any) -> None:
        change = sa.update(transcripts).where(_is_held(claim)).values(values)
        if not await self._database.execute(change):
            raise LeaseLost(claim.path)


def _recordings(record: CallRecord) -> Iterator[tuple[RecordingPath, int]]:
    for each in record.recordings:
        path = path_of_url(record.account_id, each.url)
        if path is not None and each.state in _QUEUED_STATES:
            yield path, _QUEUED_STATES[each.state]


async def _next_turn(connection: AsyncConnection, account_id: str) -> int:
    """Return one more than the turn of the account's last recording, or the current turn."""
    last = sa.select(sa.func.max(transcripts.c.turn)).where(
        is_unfinished, transcripts.c.account_id == account_id
    )
    current = sa.select(sa.func.min(transcripts.c.turn)).where(is_unfinished)
    found = (await connection.execute(last)).scalar_one()
    if found is not None:
        return int(found) + 1
    return int((await connection.execute(current)).scalar_one() or 0)


def _is_held(claim: Claim) -> sa.ColumnElement[bool]:
    """Match this claim only: each one counts as one more attempt."""
    return sa.and_(
        transcripts.c.id == claim.id,
        transcripts.c.state == "running",
        transcripts.c.owner == claim.owner,
        transcripts.c.attempts == claim.attempts,
    )
