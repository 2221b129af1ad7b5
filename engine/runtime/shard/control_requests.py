"""Requests to a call: the errors that reject them, and their acknowledgement once committed."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from engine.calls.sessions.preconditions import Rejection
from engine.store.errors import StoreDown
from wire.shard import ShardId


class RequestRejected(Exception):
    """A request cannot be served now; `rejection` says why."""

    def __init__(self, rejection: Rejection) -> None:
        super().__init__(rejection.detail)
        self.rejection = rejection


class NotOwner(Exception):
    """Another engine owns the shard of a request; None: any engine with a shard can serve it."""

    def __init__(self, shard: ShardId | None) -> None:
        super().__init__(f"shard {shard} is another engine's")
        self.shard = shard


class CallTooLarge(Exception):
    """A call took more steps, or has a larger state, than a call may have."""


class LighterLoadElsewhere(NotOwner):
    """Another engine should start a call, at a node with a lower load; this engine may as well."""


COMMIT_TIMEOUT_S = 5


class RequestAck:
    """Waits until a request is committed; abandoned when the shard loses its calls before that."""

    def __init__(self) -> None:
        self._is_committed = False
        self._decided = asyncio.Event()

    def confirm(self) -> None:
        self._is_committed = True
        self._decided.set()

    def abandon(self) -> None:
        """End the wait: whether the request was committed is unknown."""
        self._decided.set()

    async def wait(self, error_text: str) -> None:
        """Wait for the commit; raises StoreDown with the text if it fails or takes too long."""
        try:
            async with asyncio.timeout(COMMIT_TIMEOUT_S):
                await self._decided.wait()
        except TimeoutError:
            raise StoreDown(error_text, error_text) from None
        if not self._is_committed:
            raise StoreDown(error_text, error_text)


@contextmanager
def awaiting_commit(pending_acks: list[RequestAck]) -> Iterator[RequestAck]:
    """Add an acknowledgement to a shard's pending ones for the duration of a request."""
    ack = RequestAck()
    pending_acks.append(ack)
    try:
        yield ack
    finally:
        pending_acks.remove(ack)
