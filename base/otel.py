"""Spans of requests by OpenTelemetry (the extra `otel`), exported by OTLP over HTTP.

All settings are the standard ones, `OTEL_…`; imported only if they name an endpoint.
"""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from msgspec import Struct
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from base.tracing import Span

_W3C = TraceContextTextMapPropagator()


def create_provider(name: str) -> TracerProvider:
    """Create a provider that exports in the background; OTEL_SERVICE_NAME overrides `name`."""
    resource = Resource.create({} if "OTEL_SERVICE_NAME" in os.environ else {SERVICE_NAME: name})
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider


class OtelSpan(Struct, frozen=True):
    """See `traces.Span`."""

    span: trace.Span

    def set_name(self, name: str) -> None:
        self.span.update_name(name)

    def set_attribute(self, name: str, value: str | int) -> None:
        self.span.set_attribute(name, value)

    def end(self, error: str = "") -> None:
        if error:
            self.span.set_status(Status(StatusCode.ERROR, error))
        self.span.end()


class OtelRequestTraces:
    """See `traces.RequestTraces`."""

    def __init__(self, provider: TracerProvider) -> None:
        self.provider = provider
        self.tracer = provider.get_tracer("switchroom")

    @contextmanager
    def server_span(self, name: str, headers: Mapping[str, str]) -> Iterator[Span]:
        started = self.tracer.start_span(
            name, _W3C.extract(context_headers(headers)), SpanKind.SERVER
        )
        with use_span(started) as span:
            yield span

    def headers(self) -> Mapping[str, str]:
        headers: dict[str, str] = {}
        _W3C.inject(headers)
        return headers

    def close(self) -> None:
        """Export pending spans and stop; may block for the exporter's timeout."""
        self.provider.shutdown()


@contextmanager
def use_span(span: trace.Span) -> Iterator[Span]:
    """Make a span current; end it if a cancelled user left it open."""
    current = trace.use_span(span, record_exception=False, set_status_on_exception=False)
    try:
        with current:
            yield OtelSpan(span)
    finally:
        if span.is_recording():
            span.end()


PARENT, STATE = "traceparent", "tracestate"
MAX_STATE_LENGTH = 512  # what each program has to pass on
_PARENT = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(?:-[\x21-\x7e]{0,64})?")
_KEY = r"(?:[a-z][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13})"
_MEMBER = re.compile(
    rf"({_KEY})=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{{0,255}}[\x21-\x2b\x2d-\x3c\x3e-\x7e]"
)


def context_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers that have the form of the standard."""
    parent, state = headers.get(PARENT, ""), headers.get(STATE, "")
    if not _PARENT.fullmatch(parent):
        return {}
    return {PARENT: parent} | ({STATE: state} if _is_state(state) else {})


def _is_state(text: str) -> bool:
    """Return whether a list has members of different names only."""
    if not text or len(text) > MAX_STATE_LENGTH:
        return False
    found = [_MEMBER.fullmatch(each) for each in re.split(r"[ \t]*,[ \t]*", text) if each]
    names = {each[1] for each in found if each}
    return bool(found) and len(names) == len(found)
