"""What is asked of calls: why it can't be done, that another engine can, that it is stored."""

import asyncio
import contextlib
from collections.abc import Iterator

from engine.calls.sessions.preconditions import Refusal
from engine.store.errors import StoreDown

COMMIT_TIMEOUT_S = 5
CONNECT_TIMEOUT_S = 1


class CommitAck:
    """Kept when it is stored, broken when the desk has given its calls up before."""

    def __init__(self) -> None:
        self._is_stored = False
        self._is_decided = asyncio.Event()

    def stored(self) -> None:
        """Keep it."""
        self._is_stored = True
        self._is_decided.set()

    def broken(self) -> None:
        """Let nobody wait for it any more: it may have been done, or may not."""
        self._is_decided.set()

    async def kept(self, otherwise: str) -> None:
        """Wait until it is; raises StoreDown when it is not, or that takes long."""
        try:
            async with asyncio.timeout(COMMIT_TIMEOUT_S):
                await self._is_decided.wait()
        except TimeoutError:
            raise StoreDown(otherwise) from None
        if not self._is_stored:
            raise StoreDown(otherwise)


class RequestRejected(Exception):
    """A request can't be done now; `refusal` says why."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.detail)
        self.refusal = refusal


class NotOwner(Exception):
    """Another engine has the slot that this is about; None: any that has one."""

    def __init__(self, slot: int | None) -> None:
        super().__init__(f"slot {slot} is another engine's")
        self.slot = slot


@contextlib.contextmanager
def awaiting_commit(pending: set[CommitAck]) -> Iterator[CommitAck]:
    """Add an acknowledgement to a shard's pending ones for the duration of a request."""
    promise = CommitAck()
    pending.add(promise)
    try:
        yield promise
    finally:
        pending.discard(promise)


async def wait_connected(heard: asyncio.Event) -> None:
    """Give a node that is being looked at, as after a takeover, a moment to be heard again."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(CONNECT_TIMEOUT_S):
            await heard.wait()
