"""An I/O runner among fakes whose answers depend on the request."""

import asyncio
import os
from collections.abc import Iterable

from engine.calls.flows.templates import Lookup
from engine.calls.model.events import Event
from engine.calls.model.io_commands import IoCommand
from engine.media.clip import MediaError
from engine.media.clip_cache import ClipCache
from engine.runtime.io.command_runner import IoRunner, Middleware
from engine.runtime.io.digit_sealer import DigitSealer
from engine.runtime.io.flow_cache import FlowCache
from engine.store.errors import StoreDown
from engine.webhooks.action_client import ActionClient, ActionResponse
from engine.webhooks.api_sender import ApiResponse
from engine.webhooks.errors import Attempt, WebhookFailed
from tests.harness.calls.builders import CLIPS, HTTPS, outbound, say, tree
from tests.harness.memory_store.store import MemoryStore
from tests.harness.until import MAX_WAIT_S
from wire.media import Audio, Clip, Source, Speech
from wire.tree import Limits

GOOD, BAD, BROKEN = Audio(HTTPS), Audio(HTTPS + "404"), Audio(HTTPS + "bug")
HANGING = Audio(HTTPS + "hanging")


class FakeClips(ClipCache):
    """One cached clip, one that can be fetched, one that cannot."""

    def __init__(self) -> None:
        self.prefetched: tuple[Source, ...] = ()
        self.released: list[str] = []
        self.is_fetching, self.is_cancelled = asyncio.Event(), asyncio.Event()

    def cached(self, account: str, source: Source) -> Clip | None:
        """Return the clip of one text."""
        return CLIPS[0] if account == "acme" and source == Speech("known") else None

    def is_silent(self, account: str, source: Source) -> bool:
        """Return whether it is the clip of the one text."""
        return account == "acme" and source == Speech("known")

    async def fetch(self, account: str, source: Source) -> Clip:
        """Fetch a clip, fail, or raise an internal error."""
        assert account == "acme"
        if source == BAD:
            raise MediaError("not_found", "404")
        if source == HANGING:
            await self._hang()
        if source == BROKEN:
            raise RuntimeError("an internal error")
        return CLIPS[1]

    async def _hang(self) -> None:
        self.is_fetching.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.is_cancelled.set()

    def release(self, call_id: str) -> None:
        """Keep the call."""
        self.released.append(call_id)

    def prefetch(self, account: str, sources: Iterable[Source], call_id: str) -> None:
        """Keep the sources."""
        assert account == "acme"
        assert call_id
        self.prefetched = tuple(sources)


class FakeActions(ActionClient):
    """A customer's server whose answer depends on the URL."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        self.sensitive: list[str] = []
        self.action = tree(say())
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def ask(
        self, account: str, url: str, body: bytes, request_id: str, sensitive: str = ""
    ) -> ActionResponse:
        """Answer, fail, or raise an internal error."""
        assert isinstance(body, bytes)
        assert account == "acme"
        self.requests.append(request_id)
        self.sensitive.append(sensitive)
        await self.may_answer.wait()
        if url.endswith("500"):
            raise WebhookFailed("status_500", "answered 500", (Attempt(7, 500, "status_500"),))
        if url.endswith("bug"):
            raise RuntimeError("an internal error")
        return ActionResponse(self.action, (Attempt(5, 200, ""),))


class FakeFlows(MemoryStore):
    """The memory store, whose flow `down` cannot be read."""

    reads = 0

    async def flow(self, account: str, flow_id: str, version: int = 0) -> tuple[int, bytes] | None:
        """Read a flow."""
        self.reads += 1
        if flow_id == "down":
            raise StoreDown("server:6379: gone")
        return await super().flow(account, flow_id, version)


class FakeApiRequests:
    """API requests whose answer depends on the request id."""

    async def ask(self, account: str, api: str, values: Lookup, key: str) -> ApiResponse:
        """Answer, fail, or raise an internal error."""
        assert account == "acme"
        if api == "bad":
            raise WebhookFailed("status_404", "answered 404", (Attempt(3, 404, "status_404"),))
        if api == "bug":
            raise RuntimeError("an internal error")
        return ApiResponse(200, {"name": values("contact.fName"), "key": key}, (Attempt(4, 200),))


class IoScene:
    """An I/O runner among fakes."""

    def __init__(self, *middlewares: Middleware) -> None:
        self.clips, self.actions, self.flows = FakeClips(), FakeActions(), FakeFlows()
        self.sealer = DigitSealer(("secret",), os.urandom)
        flow_cache = FlowCache(self.flows.flow, Limits())
        self.runner = IoRunner(
            self.clips,
            self.actions,
            flow_cache,
            FakeApiRequests(),
            self.sealer,
            middlewares=middlewares,
        )
        self.events: list[Event] = []

    async def run(self, command: IoCommand) -> Event:
        """Run a command to its one event."""
        ended: asyncio.Future[Event] = asyncio.get_running_loop().create_future()
        self.runner.run(command, outbound(contact={"fName": "Ada"}), ended.set_result)
        async with asyncio.timeout(MAX_WAIT_S):
            return await ended
