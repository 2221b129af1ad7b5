"""Server-sent events: responses without an end, and how many of them there may be."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Annotated

import structlog
from starlette.responses import StreamingResponse
from starlette.types import Message, Send

from api.common.account_concurrency import AccountConcurrency
from api.common.errors import ApiError, ServiceUnavailable
from base.limit import Limit

MAX_READERS: Annotated[
    int,
    Limit(
        "account",
        "429 `too_many`",
        "Streams of live events of one account from one process.",
    ),
] = 60
MAX_ALL_READERS: Annotated[
    int, Limit("process", "503 `unavailable`", "Streams of live events of a process.")
] = 400
HEARTBEAT_S = 10.0
SEND_TIMEOUT_S = 30.0
RETRY_FRAME = b"retry: 1000\n\n"
COMMENT_FRAME = b":\n\n"
Reauthenticate = Callable[[], Awaitable[object]]  # raises ApiError if the reader is not authorized
log = structlog.get_logger()


def reader_limit(in_all: int = MAX_ALL_READERS) -> AccountConcurrency:
    """Return what counts the open streams."""
    return AccountConcurrency(
        "too_many", "event streams", of_account=MAX_READERS, in_all=in_all, retry_after_s=5
    )


class EventStream(StreamingResponse):
    """Closes its source when the reader disconnects or stops reading."""

    def __init__(self, chunks: AsyncIterator[bytes], stack: AsyncExitStack) -> None:
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(chunks, media_type="text/event-stream", headers=headers)
        self._stack = stack

    async def stream_response(self, send: Send) -> None:
        """See StreamingResponse; each chunk must be sent within a timeout."""

        async def send_in_time(message: Message) -> None:
            async with asyncio.timeout(SEND_TIMEOUT_S):
                await send(message)

        async with self._stack:
            try:
                await super().stream_response(send_in_time)
            except TimeoutError:
                log.info("live event reader timed out")


async def is_authorized(reauthenticate: Reauthenticate) -> bool:
    """Return whether the reader is still authorized: its key or token may have expired."""
    try:
        await reauthenticate()
    except ServiceUnavailable:
        return True  # unknown: the database is unavailable
    except ApiError:
        return False
    return True
