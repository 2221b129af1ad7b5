"""Traces by OpenTelemetry (the extra `otel`), exported by OTLP over HTTP.

All settings are the standard ones, `OTEL_…`; imported only if they name an endpoint.
"""

import os
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b

from msgspec import Struct
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import Decision
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from engine.calls.model.call_id_format import shard_of
from engine.observe.traces import Span
from wire.shard import NO_SHARD

MAX_CALLS = 20_000
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

    def set_attribute(self, name: str, value: str | int) -> None:
        self.span.set_attribute(name, value)

    def end(self, error: str = "") -> None:
        if error:
            self.span.set_status(Status(StatusCode.ERROR, error))
        self.span.end()


class OtelTraces:
    """See `traces.Traces`.

    A call that no traced request started, or that another engine started, has its own trace,
    derived from the call's id, so that every engine derives the same one.
    """

    def __init__(self, provider: TracerProvider) -> None:
        self._provider = provider
        self._tracer = provider.get_tracer("switchroom")
        self._linked: OrderedDict[str, SpanContext] = OrderedDict()

    @contextmanager
    def server_span(self, name: str, headers: Mapping[str, str]) -> Iterator[Span]:
        started = self._tracer.start_span(name, _W3C.extract(headers), SpanKind.SERVER)
        with _use_span(started) as span:
            yield span

    def link_call(self, call_id: str) -> None:
        span = trace.get_current_span()
        if not span.get_span_context().is_valid:
            return
        span.set_attributes(_call_attributes(call_id))
        self._linked[call_id] = span.get_span_context()
        if len(self._linked) > MAX_CALLS:
            self._linked.popitem(last=False)

    def start_client_span(self, name: str, call_id: str) -> Span:
        return OtelSpan(self._start_span(name, call_id))

    @contextmanager
    def client_span(self, name: str, call_id: str) -> Iterator[Span]:
        with _use_span(self._start_span(name, call_id)) as span:
            yield span

    def headers(self) -> Mapping[str, str]:
        headers: dict[str, str] = {}
        _W3C.inject(headers)
        return headers

    def close(self) -> None:
        """Export pending spans and stop; may block for the exporter's timeout."""
        self._provider.shutdown()

    def _start_span(self, name: str, call_id: str) -> trace.Span:
        context = self._linked.get(call_id) or self._derived_context(call_id)
        parent = trace.set_span_in_context(trace.NonRecordingSpan(context))
        return self._tracer.start_span(
            name, parent, SpanKind.CLIENT, attributes=_call_attributes(call_id)
        )

    def _derived_context(self, call_id: str) -> SpanContext:
        digest = blake2b(call_id.encode(), digest_size=24).digest()
        trace_id, span_id = int.from_bytes(digest[:16]), int.from_bytes(digest[16:])
        decision = self._provider.sampler.should_sample(None, trace_id, "call").decision
        is_sampled = decision is Decision.RECORD_AND_SAMPLE
        flags = TraceFlags(TraceFlags.SAMPLED if is_sampled else TraceFlags.DEFAULT)
        return SpanContext(trace_id, span_id, is_remote=True, trace_flags=flags)


@contextmanager
def _use_span(span: trace.Span) -> Iterator[Span]:
    """Make a span current; end it if a cancelled user left it open."""
    current = trace.use_span(span, record_exception=False, set_status_on_exception=False)
    try:
        with current:
            yield OtelSpan(span)
    finally:
        if span.is_recording():
            span.end()


def _call_attributes(call_id: str) -> dict[str, str | int]:
    shard = shard_of(call_id) or NO_SHARD
    return {
        "switchroom.call_id": call_id,
        "switchroom.node": shard.node,
        "switchroom.slot": shard.slot,
    }
