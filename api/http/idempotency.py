"""`Idempotency-Key`: a POST that creates, sent again, gets the first response again.

Only responses of successful operations are stored; a rejected request changed nothing and can be
repeated. A process that takes over the key of a dead one uses the same `request_id`.

A large response is not stored, only the ids in it: whoever repeats the request learns that it was
done, and what to read.

A response with a secret is stored encrypted, with a key that the database does not have, and only
the API key that made the request gets it again: another one may have fewer rights.
"""

import asyncio
import hashlib
import hmac
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Annotated, Protocol

import msgspec
import sqlalchemy as sa
from fastapi import Header
from msgspec import Struct

from api.common.clock import Clock
from api.common.errors import Conflict
from api.common.token_buckets import Rate, TokenBuckets
from api.db.database import Database, DatabaseUnavailable, metadata
from api.db.row_quota import RowLimit, RowQuota
from base.limit import Limit
from wire.decoding.errors import BadInput

HEADER = "Idempotency-Key"
RETENTION_MS = 86_400_000
MAX_KEYS = 1_000_000  # of an account, within RETENTION_MS
MAX_RESPONSE_BYTES: Annotated[
    int,
    Limit(
        "request",
        "409 `response_not_kept`, to its repetition",
        "Bytes of a response that is kept for an idempotency key.",
    ),
] = 16_384
MAX_KEPT_BYTES: Annotated[
    int,
    Limit(
        "account",
        "409 `response_not_kept`, to repetitions",
        "Bytes of responses of one process that are kept for idempotency keys per day, after a"
        " burst of a sixteenth.",
    ),
] = 1 << 30
MAX_ID_CHARS = 128
LEASE_MS = 60_000  # without a renewal, the process that runs the operation counts as dead
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias=HEADER,
        min_length=1,
        max_length=128,
        pattern=r"^[\x21-\x7e]+$",
        description="A request with the same key within 24 hours gets the same response.",
    ),
]
Operation = Callable[[str], Awaitable[bytes]]

responses = sa.Table(
    "idempotency",
    metadata,
    sa.Column("account_id", sa.String(64), sa.ForeignKey("accounts.id"), primary_key=True),
    sa.Column("key", sa.String(128), primary_key=True),
    sa.Column("asked", sa.LargeBinary(32), key="digest", nullable=False),
    sa.Column("answer", sa.LargeBinary, key="response"),
    sa.Column("since_ms", sa.BigInteger, nullable=False, index=True),
)


class ResponseCipher(Protocol):
    """Encrypts responses with secrets, each bound to its place."""

    def encrypt(self, place: str, body: bytes) -> bytes: ...

    def decrypt(self, place: str, stored: bytes) -> bytes: ...


class IdempotentRequest(Struct, frozen=True):
    """A request with an idempotency key; each agent has keys of its own.

    `key_id` is the caller's API key if the response has a secret: then each of them has, too.
    """

    account_id: str
    agent_id: str | None
    key: str
    path: str  # with the query
    body: bytes
    key_id: str = ""

    @property
    def digest(self) -> bytes:
        """Return a hash of the request, to detect a key that is reused for another one."""
        return hashlib.sha256(self.path.encode() + b"\0" + self.body).digest()

    @property
    def stored_key(self) -> str:
        """Return the key under which the response is stored."""
        if self.key_id:
            text = f"{self.agent_id or ''}\0{self.key}\0{self.key_id}"
        elif self.agent_id is not None:
            text = f"{self.agent_id}\0{self.key}"
        else:
            return self.key
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def place(self) -> str:
        return f"idempotency/{self.account_id}/{self.stored_key}"

    def request_id(self, secret: str) -> str:
        """Return the id by which an engine recognizes a repeated request.

        It becomes part of the call's id, and so of its recording's address: without the secret,
        who knows a key such as `order-4711` must not be able to compute it.
        """
        text = f"{self.account_id}\0{self.stored_key}".encode()
        return hmac.digest(secret.encode(), text, "sha256").hex()[:32]


def key_limit(most: int) -> RowLimit:
    """Return the limit of an account's keys."""
    what = "an account sends at most {:,} idempotency keys within 24 hours"
    return RowLimit(responses.c.account_id, most, what, "SWITCHROOM_MAX_IDEMPOTENCY_KEYS")


class LargeResponse(Struct, frozen=True, array_like=True, tag="large"):
    """What is stored of a large response, in JSON, as an array: no response is one."""

    size: int
    ids: dict[str, str]

    @classmethod
    def of(cls, response: bytes) -> "LargeResponse":
        document = msgspec.json.decode(response)
        ids = {
            name: value
            for name, value in (document.items() if isinstance(document, dict) else ())
            if name.lower().endswith("id") and isinstance(value, str) and len(value) <= MAX_ID_CHARS
        }
        return cls(len(response), ids)

    def error(self) -> Conflict:
        ids = ", ".join(f"{name} {value}" for name, value in self.ids.items())
        text = f"the request was done; its response of {self.size} bytes is not kept"
        return Conflict(f"{text}: {ids}" if ids else text, "response_not_kept")


_LARGE = b'["large",'
_large_response = msgspec.json.Decoder(LargeResponse)


class Claim(Struct):
    """A request in progress; its row's `since_ms` may be any of `renewed_ms`."""

    request: IdempotentRequest
    renewed_ms: list[int]


class Idempotency:
    """Runs operations once, and stores their responses for a day."""

    def __init__(  # noqa: PLR0913 - collaborators are passed in, and limits
        self,
        database: Database,
        now_ms: Clock,
        secret: str,
        cipher: ResponseCipher,
        max_keys: int = MAX_KEYS,
        *,
        max_kept_bytes: int = MAX_KEPT_BYTES,
        renew_interval_s: float = LEASE_MS / 3_000,
    ) -> None:
        self._quota = RowQuota(database, now_ms, key_limit(max_keys))
        rate = Rate(max_kept_bytes * 1_000 / RETENTION_MS, max_kept_bytes / 16)
        self._kept_bytes = TokenBuckets(rate, now_ms)
        self._secret = secret
        self._cipher = cipher
        self._database = database
        self._now_ms = now_ms
        self._renew_interval_s = renew_interval_s

    async def once(self, request: IdempotentRequest, operation: Operation) -> bytes:
        """Run an operation, or return its stored response.

        Raises Conflict while it runs, if its response was too large to be stored, or those of the
        account were, and for a new key if the account has sent too many.
        """
        if not await self._quota.has_room(request.account_id):
            return await self._stored_response(request, self._quota.limit.error())
        since_ms = self._now_ms()
        claim = Claim(request, [since_ms])
        if not await self._claim(request, since_ms):
            return await self._stored_response(request, _in_flight())
        self._quota.add(request.account_id, 1)
        try:
            async with self._renewed(claim):
                response = await operation(request.request_id(self._secret))
        except BaseException:
            await self._update_claim(claim, sa.delete(responses))
            self._quota.add(request.account_id, -1)
            raise
        await self._update_claim(
            claim, sa.update(responses).values(response=self._kept(request, response))
        )
        return response

    async def delete_expired(self) -> None:
        is_old = responses.c.since_ms <= self._now_ms() - RETENTION_MS
        await self._database.delete(responses, is_old)

    @asynccontextmanager
    async def _renewed(self, claim: Claim) -> AsyncIterator[None]:
        """Renew a claim while its operation runs: a large upload takes its time."""
        done = asyncio.Event()
        renewing = asyncio.create_task(self._renew(claim, done))
        try:
            yield
        finally:
            done.set()  # not cancelled: it may be in the middle of a write
            await renewing

    async def _renew(self, claim: Claim, done: asyncio.Event) -> None:
        while not done.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(self._renew_interval_s):
                    await done.wait()
                return
            now_ms = self._now_ms()
            claim.renewed_ms.append(now_ms)
            with suppress(DatabaseUnavailable):  # it may have been written nevertheless
                if await self._update_claim(claim, sa.update(responses).values(since_ms=now_ms)):
                    claim.renewed_ms = [now_ms]

    async def _claim(self, request: IdempotentRequest, now_ms: int) -> bool:
        """Claim a key, unless another process holds it or has stored its response."""
        row = {
            "account_id": request.account_id,
            "key": request.stored_key,
            "digest": request.digest,
            "response": None,
            "since_ms": now_ms,
        }
        added = self._database.insert(responses).values(row).on_conflict_do_nothing()
        is_expired = responses.c.since_ms <= now_ms - RETENTION_MS
        is_abandoned = sa.and_(
            responses.c.response.is_(None),
            responses.c.since_ms <= now_ms - LEASE_MS,
            responses.c.digest == request.digest,
        )
        taken_over = (
            sa.update(responses).where(_is(request), sa.or_(is_expired, is_abandoned)).values(row)
        )
        async with self._database.writing() as connection:
            if (await connection.execute(added)).rowcount:
                return True
            return bool((await connection.execute(taken_over)).rowcount)

    async def _stored_response(self, request: IdempotentRequest, absent: Conflict) -> bytes:
        """Return the response to an earlier request; raises `absent` if there was none."""
        query = sa.select(responses.c.digest, responses.c.response).where(_is(request))
        digest, response = next(iter(await self._database.rows(query)), (None, None))
        if digest is None:
            raise absent
        if digest != request.digest:
            raise BadInput(HEADER, "was used for another request", "idempotency_key_reused")
        if response is None:
            raise _in_flight()
        if response.startswith(_LARGE):
            raise _large_response.decode(response).error()
        return self._opened(request, response) if request.key_id else bytes(response)

    def _kept(self, request: IdempotentRequest, response: bytes) -> bytes:
        """Return what is stored of a response."""
        size = len(response)
        is_kept = size <= MAX_RESPONSE_BYTES and self._kept_bytes.take(request.account_id, size)
        if not is_kept:
            return msgspec.json.encode(LargeResponse.of(response))
        return self._sealed(request, response) if request.key_id else response

    def _sealed(self, request: IdempotentRequest, response: bytes) -> bytes:
        """Return an encrypted response as JSON, which all stored responses are."""
        encrypted = self._cipher.encrypt(request.place, response)
        return msgspec.json.encode(b64encode(encrypted).decode())

    def _opened(self, request: IdempotentRequest, stored: bytes) -> bytes:
        encrypted = b64decode(msgspec.json.decode(stored, type=str))
        return self._cipher.decrypt(request.place, encrypted)

    async def _update_claim(self, claim: Claim, change: sa.Update | sa.Delete) -> bool:
        ours = sa.and_(_is(claim.request), responses.c.since_ms.in_(claim.renewed_ms))
        return bool(await self._database.execute(change.where(ours)))


def _in_flight() -> Conflict:
    return Conflict("the same request is being worked on", "in_flight", retry_after_s=1)


def _is(request: IdempotentRequest) -> sa.ColumnElement[bool]:
    return sa.and_(
        responses.c.account_id == request.account_id,
        responses.c.key == request.stored_key,
    )
