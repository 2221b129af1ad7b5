"""Metrics and traces of webhooks and API requests, by the node and slot of their calls."""

from collections.abc import Awaitable
from time import perf_counter
from typing import Protocol, TypeVar

from msgspec import Struct

from engine.calls.flows.templates import Lookup
from engine.observe.metrics import Metrics
from engine.observe.telemetry import Traces
from engine.runtime.io.command_runner import ActionSource, ApiRequests
from engine.webhooks.action_client import ActionResponse
from engine.webhooks.api_sender import ApiResponse
from engine.webhooks.errors import Attempt, WebhookFailed
from wire.call_id_format import call_of, shard_of


class _HasAttempts(Protocol):
    @property
    def attempts(self) -> tuple[Attempt, ...]: ...


Response = TypeVar("Response", bound=_HasAttempts)


class _WebhookTimer:
    def __init__(self, metrics: Metrics) -> None:
        self._counts = metrics.external

    async def measure(self, request: Awaitable[Response], request_id: str) -> Response:
        """Await a request and record its duration and outcome."""
        node, slot = node_and_slot(request_id)
        began_s = perf_counter()
        try:
            response = await request
        except WebhookFailed as error:
            outcome = "timeout" if error.reason == "timeout" else "failed"
            self._counts.webhook_failures.table(node, slot)[error.reason] += 1
            self._record(began_s, (node, slot), outcome, error.attempts)
            raise
        self._record(began_s, (node, slot), "answered", response.attempts)
        return response

    def _record(
        self, began_s: float, labels: tuple[str, str], outcome: str, attempts: tuple[Attempt, ...]
    ) -> None:
        self._counts.webhook_duration.series(*labels, outcome).observe(perf_counter() - began_s)
        if len(attempts) > 1:
            node, slot = labels
            self._counts.webhook_retries.table(node)[slot] += 1


class MeteredActionClient:
    """Measures webhook requests for actions."""

    def __init__(self, actions: ActionSource, metrics: Metrics) -> None:
        self._actions = actions
        self._timer = _WebhookTimer(metrics)

    async def ask(
        self, account: str, url: str, body: bytes, request_id: str, sensitive: str = ""
    ) -> ActionResponse:
        request = self._actions.ask(account, url, body, request_id, sensitive)
        return await self._timer.measure(request, request_id)


class MeteredApiRequests:
    """Measures API requests like webhooks."""

    def __init__(self, apis: ApiRequests, metrics: Metrics) -> None:
        self._apis = apis
        self._timer = _WebhookTimer(metrics)

    async def ask(self, account: str, api: str, values: Lookup, key: str) -> ApiResponse:
        return await self._timer.measure(self._apis.ask(account, api, values, key), key)


class TracedActionClient(Struct, frozen=True):
    """Records each webhook request as a span of its call."""

    actions: ActionSource
    traces: Traces

    async def ask(
        self, account: str, url: str, body: bytes, request_id: str, sensitive: str = ""
    ) -> ActionResponse:
        fault = "given up"  # if the request is cancelled
        with self.traces.client_span("webhook", call_of(request_id) or "") as span:
            try:
                response = await self.actions.ask(account, url, body, request_id, sensitive)
                fault = ""
            except WebhookFailed as error:
                fault = error.reason
                raise
            finally:
                span.set_attribute("switchroom.request_id", request_id)
                span.end(fault)
        return response


def node_and_slot(request_id: str) -> tuple[str, str]:
    """Return the node and slot of a request's call."""
    shard = shard_of(call_of(request_id) or "")
    return (shard.node, str(shard.slot)) if shard else ("", "")
