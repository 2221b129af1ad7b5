"""The instruments of one engine: the meter always, traces where a tracing system is named."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import structlog
from msgspec import Struct, field

from engine.observe.metrics import Metrics
from engine.observe.traces import Traces

ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
log = structlog.get_logger()


class Telemetry(Struct, frozen=True):
    """What measures an engine."""

    metrics: Metrics = field(default_factory=Metrics)
    traces: Traces | None = None


@asynccontextmanager
async def open_telemetry(environ: Mapping[str, str]) -> AsyncIterator[Telemetry]:
    """Give an engine's instruments; spans that wait are sent at the end."""
    if not is_traced(environ):
        yield Telemetry()
        return
    try:
        # Imported here: an engine without tracing needs none of its packages.
        from engine.observe.otel import OtelTraces, create_provider  # noqa: PLC0415 - as just said
    except ImportError as error:
        log.warning("no traces: pip install 'switchroom[otel]'", error=str(error))
        yield Telemetry()
        return
    traces = OtelTraces(create_provider("switchroom"))
    try:
        yield Telemetry(traces=traces)
    finally:
        await asyncio.to_thread(traces.close)


def is_traced(environ: Mapping[str, str]) -> bool:
    """Tell whether OpenTelemetry's own variables name an endpoint, and don't switch it off."""
    is_off = environ.get("OTEL_SDK_DISABLED", "").lower() == "true"
    return not is_off and any(environ.get(name) for name in ENDPOINTS)
