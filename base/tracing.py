"""Spans of requests: the interface to a tracing system, and traces of a running program."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager
from threading import Thread
from typing import Protocol, TypeVar

import structlog


class Span(Protocol):
    """An operation in progress."""

    def set_name(self, name: str) -> None:
        """Change the name, which may be known only at the end."""

    def set_attribute(self, name: str, value: str | int) -> None:
        """Set an attribute."""

    def end(self, error: str = "") -> None:
        """End the span; with an error if the operation failed."""


class RequestTraces(Protocol):
    """Creates spans of requests; a program without tracing has no instance."""

    def server_span(self, name: str, headers: Mapping[str, str]) -> AbstractContextManager[Span]:
        """Open the span of an incoming request, under the parent in its headers."""

    def headers(self) -> Mapping[str, str]:
        """Return the W3C trace context headers of the current span."""


ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
CLOSES_WITHIN_S = 3.0  # less than what service managers wait
log = structlog.get_logger()


class Closeable(Protocol):
    def close(self) -> None:
        """Export pending spans and stop; may block."""


T = TypeVar("T", bound=Closeable)


@asynccontextmanager
async def open_traces(
    environ: Mapping[str, str],
    create: Callable[[], T],
    closes_within_s: float = CLOSES_WITHIN_S,
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
        await _close(traces, closes_within_s)


async def _close(traces: Closeable, within_s: float) -> None:
    """Export pending spans, but let no collector that is down delay the end of a program."""
    thread = Thread(target=traces.close, name="traces-close", daemon=True)
    thread.start()
    await asyncio.to_thread(thread.join, within_s)
    if thread.is_alive():
        log.warning("the last spans were not exported", within_s=within_s)


def is_traced(environ: Mapping[str, str]) -> bool:
    """Return whether OpenTelemetry's variables name an endpoint and do not disable it."""
    is_off = environ.get("OTEL_SDK_DISABLED", "").lower() == "true"
    return not is_off and any(environ.get(name) for name in ENDPOINTS)
