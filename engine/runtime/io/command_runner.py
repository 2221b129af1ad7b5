"""Runs calls' I/O commands: fetches media, sends webhooks and API requests, loads flows.

Each command is a task that ends in exactly one event; the call's deadline bounds the wait for it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, Protocol, TypeVar

import structlog
from msgspec import Struct

from base.tasks import cancel_all
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
from engine.media.clip_cache import ClipCache
from engine.runtime.io.digit_sealer import DigitSealer, UnreadableDigits
from engine.runtime.io.flow_cache import FlowCache, call_variables, no_action
from engine.store.errors import StoreDown
from engine.webhooks.action_client import ActionClient
from engine.webhooks.api_sender import ApiResponse
from engine.webhooks.errors import Attempt, WebhookFailed
from wire.decoding.errors import BadInput
from wire.media import Clip, MediaFault, Source, describe_source

log = structlog.get_logger()


class ApiRequests(Protocol):
    """Sends accounts' stored API requests."""

    async def ask(self, account: str, api: str, values: Lookup, key: str) -> ApiResponse:
        """Send a request with its templates filled in; raises WebhookFailed."""


class _HasAttempts(Protocol):
    @property
    def attempts(self) -> tuple[Attempt, ...]: ...


Response = TypeVar("Response", bound=_HasAttempts)


class Middleware(Protocol):
    """Wraps each webhook and API request of a call."""

    async def __call__(self, request_id: str, response: Awaitable[Response]) -> Response:
        """Await the response and return it; raises WebhookFailed."""


class _NoClip(Struct, frozen=True):
    """Why a source has no clip: for the call, and in words."""

    fault: MediaFault
    text: str


class IoRunner:
    """Runs I/O commands as tasks, and answers from caches at once where it can."""

    def __init__(  # noqa: PLR0913 - collaborators are passed in
        self,
        clips: ClipCache,
        actions: ActionClient,
        flows: FlowCache,
        apis: ApiRequests,
        sealer: DigitSealer,
        *,
        middlewares: Sequence[Middleware] = (),  # the innermost one first
    ) -> None:
        self._middlewares = middlewares
        self._sealer = sealer
        self._clips = clips
        self._actions = actions
        self._flows = flows
        self._apis = apis
        self._running: dict[str, asyncio.Task[Event]] = {}
        self._done: dict[str, Callable[[Event], None]] = {}
        self._fetches: dict[str, set[str]] = {}  # requests in flight, by call

    def cached_clips(self, account: str, sources: tuple[Source, ...]) -> tuple[Clip, ...] | None:
        found = (self._clips.cached(account, source) for source in sources)
        clips = tuple(clip for clip in found if clip is not None)
        return clips if len(clips) == len(sources) else None

    def silent(self, account: str, sources: tuple[Source, ...]) -> tuple[str, ...]:
        silent = (each for each in sources if self._clips.is_silent(account, each))
        return tuple(map(describe_source, silent))

    def cached_node(self, command: LoadFlowNode, call: Call) -> Event | None:
        return self._flows.cached_node(command, call)

    def seal_digit(self, call_id: str, digit: str) -> str:
        return self._sealer.seal(call_id, digit)

    def prefetch(self, call: Call, command: PrefetchMedia) -> None:
        self._clips.prefetch(call.account, command.sources, call.id)

    def release(self, call_id: str) -> None:
        for request in sorted(self._fetches.pop(call_id, ())):
            self._running[request].cancel()
        self._clips.release(call_id)

    def run(self, command: IoCommand, call: Call, done: Callable[[Event], None]) -> None:
        """Run a command and call `done` with its result.

        A command that is already running is not started again; only its latest `done` is called,
        since the call may have been recovered in between.
        """
        self._done[command.request] = done
        if command.request in self._running:
            return
        task = asyncio.get_running_loop().create_task(self._result(command, call))
        self._running[command.request] = task
        if isinstance(command, FetchMedia):
            self._fetches.setdefault(call.id, set()).add(command.request)

        def ended(task: asyncio.Task[Event]) -> None:
            self._running.pop(command.request, None)
            self._forget_fetch(call.id, command.request)
            done = self._done.pop(command.request)
            if not task.cancelled():
                done(_failure(command, call, task) if task.exception() else task.result())

        task.add_done_callback(ended)

    def _forget_fetch(self, call_id: str, request: str) -> None:
        if requests := self._fetches.get(call_id):
            requests.discard(request)
            if not requests:
                del self._fetches[call_id]

    async def close(self) -> None:
        """Cancel all commands; they stay in the outboxes of their calls."""
        await cancel_all(self._running.values())

    def _result(self, command: IoCommand, call: Call) -> Coroutine[Any, Any, Event]:
        match command:
            case FetchMedia():
                return self._fetch_media(command, call)
            case SendWebhook():
                return self._send_webhook(command, call)
            case SendApiRequest():
                return self._send_api_request(command, call)
            case LoadFlow():
                return self._load_flow(command, call)
            case LoadFlowNode():
                return self._flows.load_node(command, call)

    async def _fetch_media(self, command: FetchMedia, call: Call) -> Event:
        sources = command.sources
        results = await asyncio.gather(
            *(self._fetch_clip(command.request, call, each) for each in sources)
        )
        clips = tuple(each for each in results if isinstance(each, Clip))
        errors = tuple(each.text for each in results if isinstance(each, _NoClip))
        failed = tuple(each.fault for each in results if isinstance(each, _NoClip))
        silent = self.silent(call.account, sources)
        return MediaFetched(command.request, clips, errors, failed, silent)

    async def _fetch_clip(self, request: str, call: Call, source: Source) -> Clip | _NoClip:
        try:
            return await self._clips.fetch(call.account, source)
        except MediaError as error:
            return _NoClip(MediaFault(describe_source(source), error.reason), str(error))
        except Exception:  # the sources beside it are played
            log.exception("io command failed", call_id=call.id, request=request)
            return _NoClip(MediaFault(describe_source(source), "internal"), "internal")

    async def _send_webhook(self, command: SendWebhook, call: Call) -> Event:
        try:
            body, digits = self._open_digits(command, call.id)
            sent = self._actions.ask(call.account, command.url, body, command.request, digits)
            response = await self._wrapped(command.request, sent)
        except UnreadableDigits:
            log.warning("sealed digits not readable", call_id=call.id, request=command.request)
            return ActionFailed(command.request, "unreadable_digits")
        except WebhookFailed as error:
            return ActionFailed(command.request, str(error), _summarize(error.attempts))
        attempts = _summarize(response.attempts)
        if response.action is not None:
            try:
                await self._flows.check_flow_ids(call.account, response.action)
            except BadInput as error:
                return no_action(command.request, error, attempts)
            except StoreDown:
                pass  # the flow itself reports it, if the store is still down then
        return ActionReceived(command.request, response.action, attempts)

    def _wrapped(self, request_id: str, response: Awaitable[Response]) -> Awaitable[Response]:
        for middleware in self._middlewares:
            response = middleware(request_id, response)
        return response

    def _open_digits(self, command: SendWebhook, call_id: str) -> tuple[bytes, str]:
        """Return the body to send, and the sensitive digits in it."""
        if not command.has_sealed_digits:
            return command.body, ""
        return self._sealer.open_result(call_id, command.body)

    async def _load_flow(self, command: LoadFlow, call: Call) -> Event:
        event = await self._flows.load_flow(command, call)
        if isinstance(event, FlowStarted):
            prompts = self._flows.prompts(call.account, event)
            self._clips.prefetch(call.account, prompts, call.id)
        return event

    async def _send_api_request(self, command: SendApiRequest, call: Call) -> Event:
        request, variables = command.request, call_variables(call)
        try:
            sent = self._apis.ask(call.account, command.api, variables, request)
            response = await self._wrapped(request, sent)
        except WebhookFailed as error:
            status = error.attempts[-1].status if error.attempts else 0
            return ApiRequestFailed(request, error.reason, status, _summarize(error.attempts))
        attempts = _summarize(response.attempts)
        return ApiRequestSucceeded(request, response.status, response.values, attempts)


def _summarize(attempts: tuple[Attempt, ...]) -> Attempts:
    return tuple((attempt.ms, attempt.status) for attempt in attempts)


def _failure(command: IoCommand, call: Call, task: asyncio.Task[Event]) -> Event:
    error = task.exception()
    log.error("io command failed", call_id=call.id, request=command.request, exc_info=error)
    match command:
        case FetchMedia(request=request, sources=sources):
            failed = tuple(MediaFault(describe_source(each), "internal") for each in sources)
            return MediaFetched(request, (), ("internal",), failed)
        case SendApiRequest(request=request):
            return ApiRequestFailed(request, "internal")
        case (
            SendWebhook(request=request) | LoadFlow(request=request) | LoadFlowNode(request=request)
        ):
            return ActionFailed(request, "internal")
