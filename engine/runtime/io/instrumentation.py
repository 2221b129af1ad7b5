"""Middlewares of calls' requests to customers' servers: metrics and traces of each."""

from collections.abc import Awaitable
from time import perf_counter

from msgspec import Struct

from engine.observe.metrics import Metrics
from engine.observe.telemetry import Traces
from engine.runtime.io.command_runner import Response
from engine.webhooks.errors import Attempt, WebhookFailed
from wire.call_id_format import call_of, shard_of


class Measured(Struct, frozen=True):
    """Records durations and outcomes by the node and slot of the call."""

    metrics: Metrics

    async def __call__(self, request_id: str, response: Awaitable[Response]) -> Response:
        labels, began_s = node_and_slot(request_id), perf_counter()
        try:
            received = await response
        except WebhookFailed as error:
            outcome = "timeout" if error.reason == "timeout" else "failed"
            self.metrics.external.webhook_failures.table(*labels)[error.reason] += 1
            self._record(began_s, labels, outcome, error.attempts)
            raise
        self._record(began_s, labels, "answered", received.attempts)
        return received

    def _record(
        self, began_s: float, labels: tuple[str, str], outcome: str, attempts: tuple[Attempt, ...]
    ) -> None:
        counts = self.metrics.external
        counts.webhook_duration.series(*labels, outcome).observe(perf_counter() - began_s)
        if len(attempts) > 1:
            node, slot = labels
            counts.webhook_retries.table(node)[slot] += 1


class Traced(Struct, frozen=True):
    """Records each request as a span of its call."""

    traces: Traces

    async def __call__(self, request_id: str, response: Awaitable[Response]) -> Response:
        fault = "given up"  # if the request is cancelled
        with self.traces.client_span("webhook", call_of(request_id) or "") as span:
            try:
                received = await response
                fault = ""
            except WebhookFailed as error:
                fault = error.reason
                raise
            finally:
                span.set_attribute("switchroom.request_id", request_id)
                span.end(fault)
        return received


def node_and_slot(request_id: str) -> tuple[str, str]:
    """Return the node and slot of a request's call."""
    shard = shard_of(call_of(request_id) or "")
    return (shard.node, str(shard.slot)) if shard else ("", "")
