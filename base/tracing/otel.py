"""Spans of requests by OpenTelemetry (the extra `otel`), exported by OTLP over HTTP.

All settings are the standard ones, `OTEL_…`; imported only if they name an endpoint.
"""

import os
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

from base.tracing.context import context_headers
from base.tracing.traces import Span

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
