"""Telemetry of one engine: metrics always, spans of calls if an OTLP endpoint is configured."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct, field

from base.tracing import RequestTraces, Span, open_traces
from engine.observe.metrics import Metrics


class Traces(RequestTraces, Protocol):
    """Creates spans; an engine without tracing has no instance."""

    def link_call(self, call_id: str) -> None:
        """Make the current request the parent of a call's later spans."""

    def start_client_span(self, name: str, call_id: str) -> Span:
        """Start the span of an outgoing request of a call."""

    def client_span(self, name: str, call_id: str) -> AbstractContextManager[Span]:
        """Open such a span as the current one, which `headers` names."""


if TYPE_CHECKING:
    from engine.observe.otel import OtelTraces


class Telemetry(Struct, frozen=True):
    metrics: Metrics = field(default_factory=Metrics)
    traces: Traces | None = None


@asynccontextmanager
async def open_telemetry(environ: Mapping[str, str]) -> AsyncIterator[Telemetry]:
    """Open an engine's telemetry; pending spans are exported at the end."""
    async with open_traces(environ, _create) as traces:
        yield Telemetry(traces=traces)


def _create() -> "OtelTraces":
    from base.otel import create_provider  # noqa: PLC0415 - an optional package
    from engine.observe.otel import OtelTraces  # noqa: PLC0415 - an optional package

    return OtelTraces(create_provider("switchroom"))
