"""`Idempotency-Key`: a POST that creates, sent again, is answered as it was the first time.

What is kept is the answer of what was done; what was refused has done nothing and may be tried
again. Whoever takes up a key whose process died does the deed with the same `request_id`.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Annotated

from fastapi import Header
from msgspec import Struct
from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Delete,
    ForeignKey,
    LargeBinary,
    String,
    Table,
    Update,
    and_,
    delete,
    or_,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from api.common.clock import Clock
from api.common.errors import Conflict
from api.db.database import Database, DatabaseUnavailable, metadata
from wire.errors import BadInput

HEADER = "Idempotency-Key"
RETENTION_MS = 86_400_000
LEASE_MS = 60_000  # after that without a word, who was at it is taken for dead
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias=HEADER,
        min_length=1,
        max_length=128,
        pattern=r"^[\x21-\x7e]+$",
        description="Sent again with the same key within 24 hours: the same answer again.",
    ),
]
Operation = Callable[[str], Awaitable[bytes]]

answers = Table(
    "idempotency",
    metadata,
    Column("account_id", String(64), ForeignKey("accounts.id"), primary_key=True),
    Column("key", String(128), primary_key=True),
    Column("asked", LargeBinary(32), nullable=False),
    Column("answer", LargeBinary),
    Column("since_ms", BigInteger, nullable=False),
)


class IdempotentRequest(Struct, frozen=True):
    """A request: whose, under which key, and what exactly."""

    account_id: str
    key: str
    path: str
    body: bytes

    @property
    def digest(self) -> bytes:
        """Tell it from every other."""
        return hashlib.sha256(self.path.encode() + b"\0" + self.body).digest()

    @property
    def request_id(self) -> str:
        """Name it for the engine, which does what has the same name once."""
        return hashlib.sha256(f"{self.account_id}\0{self.key}".encode()).hexdigest()[:32]


class Claim(Struct):
    """A request that is being worked on; `since_ms` may be any of the moments told."""

    request: IdempotentRequest
    renewed_ms: list[int]


class Idempotency:
    """Keeps answers for a day."""

    def __init__(self, database: Database, now_ms: Clock, hold_s: float = LEASE_MS / 3_000) -> None:
        self._database = database
        self._now_ms = now_ms
        self._renew_interval_s = hold_s
        self._insert = sqlite.insert if database.is_sqlite else postgresql.insert

    async def once(self, asked: IdempotentRequest, deed: Operation) -> bytes:
        """Do a deed, or give the answer that it had; raises Conflict while it is being done."""
        since_ms = self._now_ms()
        turn = Claim(asked, [since_ms])
        if not await self._claim(asked, since_ms):
            return await self._stored_response(asked)
        try:
            async with self._renewed(turn):
                answer = await deed(asked.request_id)
        except BaseException:
            await self._update_claim(turn, delete(answers))
            raise
        await self._update_claim(turn, update(answers).values(answer=answer))
        return answer

    async def delete_expired(self) -> None:
        """Forget what is older than a day."""
        async with self._database.writing() as connection:
            old = answers.c.since_ms <= self._now_ms() - RETENTION_MS
            await connection.execute(delete(answers).where(old))

    @asynccontextmanager
    async def _renewed(self, turn: Claim) -> AsyncIterator[None]:
        """Say again and again that the deed is being done: a large file takes its time."""
        done = asyncio.Event()
        holding = asyncio.create_task(self._renew(turn, done))
        try:
            yield
        finally:
            done.set()  # not cancelled: it may just be written
            await holding

    async def _renew(self, turn: Claim, done: asyncio.Event) -> None:
        while not done.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(done.wait(), self._renew_interval_s)
                return
            now_ms = self._now_ms()
            turn.renewed_ms.append(now_ms)
            with suppress(DatabaseUnavailable):  # it may be written all the same
                if await self._update_claim(turn, update(answers).values(since_ms=now_ms)):
                    turn.renewed_ms = [now_ms]

    async def _claim(self, asked: IdempotentRequest, now_ms: int) -> bool:
        """Begin, unless somebody did who may still be at it or has ended well."""
        row = {**_name(asked), "asked": asked.digest, "answer": None, "since_ms": now_ms}
        new = self._insert(answers).values(row).on_conflict_do_nothing()
        dead = and_(answers.c.answer.is_(None), answers.c.since_ms <= now_ms - LEASE_MS)
        stale = or_(
            answers.c.since_ms <= now_ms - RETENTION_MS, and_(dead, answers.c.asked == asked.digest)
        )
        again = update(answers).where(_is(asked), stale).values(row)
        async with self._database.writing() as connection:
            if (await connection.execute(new)).rowcount:
                return True
            return bool((await connection.execute(again)).rowcount)

    async def _stored_response(self, asked: IdempotentRequest) -> bytes:
        async with self._database.reading() as connection:
            row = (await connection.execute(select(answers).where(_is(asked)))).mappings().first()
        if row is not None and row["asked"] != asked.digest:
            raise BadInput(HEADER, "was used for another request", "idempotency_key_reused")
        if row is None or row["answer"] is None:
            raise Conflict("the same request is being worked on", "in_flight", retry_after_s=1)
        return bytes(row["answer"])

    async def _update_claim(self, turn: Claim, change: Update | Delete) -> bool:
        ours = and_(_is(turn.request), answers.c.since_ms.in_(turn.renewed_ms))
        async with self._database.writing() as connection:
            return bool((await connection.execute(change.where(ours))).rowcount)


def _name(asked: IdempotentRequest) -> dict[str, str]:
    return {"account_id": asked.account_id, "key": asked.key}


def _is(asked: IdempotentRequest) -> ColumnElement[bool]:
    return and_(answers.c.account_id == asked.account_id, answers.c.key == asked.key)
