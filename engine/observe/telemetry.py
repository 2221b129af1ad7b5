"""Telemetry of one engine: metrics always, traces if an OTLP endpoint is configured."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from msgspec import Struct, field

from base.tracing import open_traces
from engine.observe.metrics import Metrics
from engine.observe.traces import Traces

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
