"""Whether a program is traced, and its traces for as long as it runs."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Protocol, TypeVar

import structlog

ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
log = structlog.get_logger()


class Closeable(Protocol):
    def close(self) -> None:
        """Export pending spans and stop; may block."""


T = TypeVar("T", bound=Closeable)


@asynccontextmanager
async def open_traces(
    environ: Mapping[str, str], create: Callable[[], T]
) -> AsyncIterator[T | None]:
    """Yield traces if an endpoint is configured, else None; pending spans are exported at the end.

    `create` imports the extra `otel`, which may be missing.
    """
    if not is_traced(environ):
        yield None
        return
    try:
        traces = create()
    except ImportError as error:
        log.warning("tracing disabled: pip install 'switchroom[otel]'", error=str(error))
        yield None
        return
    try:
        yield traces
    finally:
        await asyncio.to_thread(traces.close)


def is_traced(environ: Mapping[str, str]) -> bool:
    """Return whether OpenTelemetry's variables name an endpoint and do not disable it."""
    is_off = environ.get("OTEL_SDK_DISABLED", "").lower() == "true"
    return not is_off and any(environ.get(name) for name in ENDPOINTS)
