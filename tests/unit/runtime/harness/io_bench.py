"""Errands among small collaborators, which answer by what they are asked."""

import asyncio

from engine.calls.flows.templates import Lookup
from engine.calls.model.events import Event
from engine.calls.model.io_commands import IoCommand
from engine.media.clip import MediaError
from engine.runtime.io.flow_cache import FlowCache
from engine.runtime.io.runner import IoRunner
from engine.store.errors import StoreDown
from engine.store.memory.store import MemoryStore
from engine.webhooks.action_client import ActionResponse
from engine.webhooks.api_sender import ApiResponse
from engine.webhooks.errors import Attempt, WebhookFailed
from tests.unit.calls.harness.builders import CLIPS, HTTPS, outbound, say, tree
from wire.media import Audio, Clip, Source, Speech
from wire.tree import Limits

GOOD, BAD, BROKEN = Audio(HTTPS), Audio(HTTPS + "404"), Audio(HTTPS + "bug")


class FakeClips:
    """One clip at hand, one that can be had, one that can't."""

    def __init__(self) -> None:
        self.prefetched: tuple[Source, ...] = ()

    def cached(self, source: Source) -> Clip | None:
        """Know one text."""
        return CLIPS[0] if source == Speech("known") else None

    async def fetch(self, source: Source) -> Clip:
        """Get a clip, fail, or have a fault."""
        if source == BAD:
            raise MediaError("not_found", "404")
        if source == BROKEN:
            raise RuntimeError("a fault of ours")
        return CLIPS[1]

    def prefetch(self, sources: tuple[Source, ...]) -> None:
        """Keep what is wanted."""
        self.prefetched = sources


class FakeActions:
    """A customer's server that answers by its address."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def ask(self, url: str, body: bytes, request_id: str) -> ActionResponse:
        """Answer, fail, or have a fault."""
        assert isinstance(body, bytes)
        self.requests.append(request_id)
        await self.may_answer.wait()
        if url.endswith("500"):
            raise WebhookFailed("status_500", "answered 500", (Attempt(7, 500, "status_500"),))
        if url.endswith("bug"):
            raise RuntimeError("a fault of ours")
        return ActionResponse(tree(say()), (Attempt(5, 200, ""),))


class FakeFlows(MemoryStore):
    """The memory store, whose flow `down` can't be read."""

    async def flow(self, account: str, flow_id: str, version: int = 0) -> tuple[int, bytes] | None:
        """Read a flow."""
        if flow_id == "down":
            raise StoreDown("gone")
        return await super().flow(account, flow_id, version)


class FakeApiRequests:
    """APIs that answer by the request's id."""

    async def ask(self, account: str, api: str, values: Lookup, key: str) -> ApiResponse:
        """Answer, fail, or have a fault."""
        assert account == "acme"
        if api == "bad":
            raise WebhookFailed("status_404", "answered 404", (Attempt(3, 404, "status_404"),))
        if api == "bug":
            raise RuntimeError("a fault of ours")
        return ApiResponse(200, {"name": values("contact.fName"), "key": key}, (Attempt(4, 200),))


class IoBench:
    """Errands among small collaborators."""

    def __init__(self) -> None:
        self.clips, self.actions, self.flows = FakeClips(), FakeActions(), FakeFlows()
        book = FlowCache(self.flows, Limits())
        self.runner = IoRunner(self.clips, self.actions, book, FakeApiRequests())
        self.events: list[Event] = []

    async def run(self, errand: IoCommand) -> Event:
        """Run an errand to its one event."""
        ended: asyncio.Future[Event] = asyncio.get_running_loop().create_future()
        self.runner.run(errand, outbound(contact={"fName": "Ada"}), ended.set_result)
        return await asyncio.wait_for(ended, 5)
