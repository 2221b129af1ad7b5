"""Reads and repeats the attempts of an account, which the engines keep."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import msgspec
from msgspec import Struct
from starlette.responses import StreamingResponse

from api.common.account_concurrency import AccountConcurrency
from api.common.errors import ServiceUnavailable
from api.engine_client import EngineClient, id_in_path
from api.http.event_stream import (
    COMMENT_FRAME,
    HEARTBEAT_S,
    RETRY_FRAME,
    EventStream,
    Reauthenticate,
    is_authorized,
)
from api.webhooks.schemas import (
    MAX_LIMIT,
    AttemptDetails,
    AttemptPage,
    AttemptQuery,
    details_of,
    item_of,
)
from wire.webhook_log import Attempts, AttemptSummary, AttemptView

POLL_INTERVAL_S = 0.5
BEFORE_ALL = "0-0"


class WebhookLogService(Struct, frozen=True):
    engine: EngineClient
    readers: AccountConcurrency

    async def list(self, account_id: str, query: AttemptQuery) -> AttemptPage:
        """Return a page of attempts; raises InvalidRequest."""
        page = await self._read(account_id, query.to_engine())
        return AttemptPage(tuple(map(item_of, page.attempts)), query.limit, page.next)

    async def get(self, account_id: str, attempt_id: str) -> AttemptDetails:
        """Return an attempt in full; raises NotFound."""
        path = f"{_path(account_id)}/{id_in_path(attempt_id)}"
        return details_of(await self.engine.request(AttemptView, "GET", path))

    async def retry(self, account_id: str, attempt_id: str) -> AttemptDetails:
        """Send the request of an attempt again; raises NotFound, Conflict."""
        path = f"{_path(account_id)}/{id_in_path(attempt_id)}/retry"
        return details_of(await self.engine.request(AttemptView, "POST", path))

    async def stream(
        self, account_id: str, last: str | None, reauthenticate: Reauthenticate
    ) -> StreamingResponse:
        """Stream attempts from now on, or after a Last-Event-ID."""
        async with AsyncExitStack() as stack:
            stack.enter_context(self.readers.hold(account_id))
            after = last or await self._newest(account_id)
            chunks = self._follow(account_id, after, reauthenticate)
            return EventStream(chunks, stack.pop_all())

    async def _newest(self, account_id: str) -> str:
        page = await self._read(account_id, {"limit": "1"})
        return page.attempts[0].id if page.attempts else BEFORE_ALL

    async def _follow(
        self, account_id: str, after: str, reauthenticate: Reauthenticate
    ) -> AsyncIterator[bytes]:
        yield RETRY_FRAME
        sent_s = time.monotonic()
        while await is_authorized(reauthenticate):
            try:
                page = await self._read(account_id, {"after": after, "limit": str(MAX_LIMIT)})
            except ServiceUnavailable:
                return  # the reader reconnects with its Last-Event-ID
            after = page.next or after
            if page.attempts or time.monotonic() - sent_s >= HEARTBEAT_S:
                sent_s = time.monotonic()
                yield b"".join(map(_frame, page.attempts)) or COMMENT_FRAME
            if len(page.attempts) < MAX_LIMIT:
                await asyncio.sleep(POLL_INTERVAL_S)

    async def _read(self, account_id: str, query: dict[str, str]) -> Attempts:
        return await self.engine.request(Attempts, "GET", _path(account_id), query=query)


def _path(account_id: str) -> str:
    return f"/webhooks/{id_in_path(account_id)}"


def _frame(attempt: AttemptSummary) -> bytes:
    body = msgspec.json.encode(item_of(attempt))
    return b"id: %b\nevent: attempt\ndata: %b\n\n" % (attempt.id.encode(), body)
