"""What is fetched for a call while it waits: audio, answers of webhooks and APIs, stored flows.

Each errand is a task of its own that ends in exactly one event; the call's deadline stands over it.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

import structlog

from engine.calls.flows.templates import Lookup
from engine.calls.model.call import Call
from engine.calls.model.events import Event
from engine.calls.model.io_commands import (
    FetchMedia,
    IoCommand,
    LoadFlow,
    LoadFlowNode,
    PrefetchMedia,
    SendApiRequest,
    SendWebhook,
)
from engine.calls.model.io_results import (
    ActionFailed,
    ActionReceived,
    ApiRequestFailed,
    ApiRequestSucceeded,
    Attempts,
    FlowStarted,
    MediaFetched,
)
from engine.media.clip import MediaError
from engine.runtime.io.flow_cache import FlowCache, call_variables
from engine.webhooks.action_client import ActionResponse
from engine.webhooks.errors import Attempt, WebhookFailed
from wire.flow import Scalar
from wire.media import Clip, Source

log = structlog.get_logger()


class ClipSource(Protocol):
    """Where audio comes from."""

    def cached(self, source: Source) -> Clip | None:
        """Give a clip that is at hand."""

    async def fetch(self, source: Source) -> Clip:
        """Get a clip; raises MediaError."""

    def prefetch(self, sources: tuple[Source, ...]) -> None:
        """Get clips without being waited for."""


class ActionSource(Protocol):
    """Who asks customers' servers."""

    async def ask(self, url: str, body: bytes, request_id: str) -> ActionResponse:
        """Ask for the next action; raises WebhookFailed."""


class ApiResponse(Protocol):
    """What an API request brought."""

    @property
    def status(self) -> int:
        """The status of the answer."""

    @property
    def values(self) -> dict[str, Scalar | None]:
        """What its fields were mapped to."""

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """What it took."""


class ApiRequests(Protocol):
    """Who sends accounts' stored API requests."""

    async def ask(self, account: str, api: str, values: Lookup, key: str) -> ApiResponse:
        """Send one, filled in; raises WebhookFailed."""


class IoRunner:
    """Runs errands as tasks that nobody has to wait for."""

    def __init__(
        self, library: ClipSource, asker: ActionSource, flows: FlowCache, apis: ApiRequests
    ) -> None:
        self._library = library
        self._asker = asker
        self._flows = flows
        self._apis = apis
        self._running: dict[str, asyncio.Task[Event]] = {}
        self._done: dict[str, Callable[[Event], None]] = {}

    def cached_clips(self, sources: tuple[Source, ...]) -> tuple[Clip, ...] | None:
        """Give the clips of sources that are all at hand; None when one must be fetched."""
        clips = tuple(map(self._library.cached, sources))
        return None if None in clips else clips  # type: ignore[return-value]  # no None is left

    def cached_node(self, errand: LoadFlowNode, call: Call) -> Event | None:
        """Give what a node of a flow is, if that is at hand."""
        return self._flows.cached_node(errand, call)

    def prefetch(self, command: PrefetchMedia) -> None:
        """Get audio ready without being waited for."""
        self._library.prefetch(command.sources)

    def run(self, errand: IoCommand, call: Call, done: Callable[[Event], None]) -> None:
        """Run an errand; `done` gets the event that ends it.

        A second run of it adds nothing, but its `done` is told: the call may have been taken anew.
        """
        self._done[errand.request] = done
        if errand.request in self._running:
            return
        task = asyncio.get_running_loop().create_task(self._event(errand, call))
        self._running[errand.request] = task

        def ended(task: asyncio.Task[Event]) -> None:
            self._running.pop(errand.request, None)
            done = self._done.pop(errand.request)
            if not task.cancelled():
                done(_failed(errand, call, task) if task.exception() else task.result())

        task.add_done_callback(ended)

    async def close(self) -> None:
        """Leave every errand undone: the outbox remembers them."""
        running = tuple(self._running.values())
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def _event(self, errand: IoCommand, call: Call) -> Coroutine[Any, Any, Event]:
        match errand:
            case FetchMedia():
                return self._fetch(errand)
            case SendWebhook():
                return self._ask(errand)
            case SendApiRequest():
                return self._send(errand, call)
            case LoadFlow():
                return self._enter(errand, call)
            case LoadFlowNode():
                return self._flows.load_node(errand, call)

    async def _fetch(self, errand: FetchMedia) -> Event:
        got = await asyncio.gather(*map(self._clip, errand.sources))
        clips = tuple(each for each in got if isinstance(each, Clip))
        faults = tuple(each for each in got if isinstance(each, str))
        return MediaFetched(errand.request, clips, faults)

    async def _clip(self, source: Source) -> Clip | str:
        try:
            return await self._library.fetch(source)
        except MediaError as error:
            return str(error)

    async def _ask(self, errand: SendWebhook) -> Event:
        try:
            answer = await self._asker.ask(errand.url, errand.body, errand.request)
        except WebhookFailed as error:
            return ActionFailed(errand.request, str(error), _tries(error.attempts))
        return ActionReceived(errand.request, answer.action, _tries(answer.attempts))

    async def _enter(self, errand: LoadFlow, call: Call) -> Event:
        event = await self._flows.load_flow(errand, call)
        if isinstance(event, FlowStarted):
            self._library.prefetch(self._flows.prompts(call.account, event))
        return event

    async def _send(self, errand: SendApiRequest, call: Call) -> Event:
        request = errand.request
        try:
            answer = await self._apis.ask(call.account, errand.api, call_variables(call), request)
        except WebhookFailed as error:
            status = error.attempts[-1].status if error.attempts else 0
            return ApiRequestFailed(request, error.reason, status, _tries(error.attempts))
        return ApiRequestSucceeded(request, answer.status, answer.values, _tries(answer.attempts))


def _tries(attempts: tuple[Attempt, ...]) -> Attempts:
    return tuple((attempt.ms, attempt.status) for attempt in attempts)


def _failed(errand: IoCommand, call: Call, task: asyncio.Task[Event]) -> Event:
    fault = task.exception()
    log.error("errand failed", call_id=call.id, request=errand.request, exc_info=fault)
    if isinstance(errand, FetchMedia):
        return MediaFetched(errand.request, (), ("internal",))
    if isinstance(errand, SendApiRequest):
        return ApiRequestFailed(errand.request, "internal")
    return ActionFailed(errand.request, "internal")
