"""Telemetry of one engine: metrics always, traces if an OTLP endpoint is configured."""

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
    metrics: Metrics = field(default_factory=Metrics)
    traces: Traces | None = None


@asynccontextmanager
async def open_telemetry(environ: Mapping[str, str]) -> AsyncIterator[Telemetry]:
    """Open an engine's telemetry; pending spans are exported at the end."""
    if not is_traced(environ):
        yield Telemetry()
        return
    try:
        from engine.observe.otel import OtelTraces, create_provider  # noqa: PLC0415 - an optional package
    except ImportError as error:
        log.warning("tracing disabled: pip install 'switchroom[otel]'", error=str(error))
        yield Telemetry()
        return
    traces = OtelTraces(create_provider("switchroom"))
    try:
        yield Telemetry(traces=traces)
    finally:
        await asyncio.to_thread(traces.close)


def is_traced(environ: Mapping[str, str]) -> bool:
    """Return whether OpenTelemetry's variables name an endpoint and do not disable it."""
    is_off = environ.get("OTEL_SDK_DISABLED", "").lower() == "true"
    return not is_off and any(environ.get(name) for name in ENDPOINTS)
