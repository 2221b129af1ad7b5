"""Spans of an engine's calls by OpenTelemetry; imported only if tracing is on."""

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import Decision
from opentelemetry.trace import SpanContext, SpanKind, TraceFlags

from base.otel import OtelRequestTraces, OtelSpan, use_span
from base.tracing import Span
from wire.call_id_format import shard_of
from wire.shard import NO_SHARD

MAX_CALLS = 20_000


class OtelTraces(OtelRequestTraces):
    """See `traces.Traces`.

    A call that no traced request started, or that another engine started, has its own trace,
    derived from the call's id, so that every engine derives the same one.
    """

    def __init__(self, provider: TracerProvider) -> None:
        super().__init__(provider)
        self._linked: OrderedDict[str, SpanContext] = OrderedDict()

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
        with use_span(self._start_span(name, call_id)) as span:
            yield span

    def _start_span(self, name: str, call_id: str) -> trace.Span:
        context = self._linked.get(call_id) or self._derived_context(call_id)
        parent = trace.set_span_in_context(trace.NonRecordingSpan(context))
        return self.tracer.start_span(
            name, parent, SpanKind.CLIENT, attributes=_call_attributes(call_id)
        )

    def _derived_context(self, call_id: str) -> SpanContext:
        digest = blake2b(call_id.encode(), digest_size=24).digest()
        trace_id, span_id = int.from_bytes(digest[:16]), int.from_bytes(digest[16:])
        decision = self.provider.sampler.should_sample(None, trace_id, "call").decision
        is_sampled = decision is Decision.RECORD_AND_SAMPLE
        flags = TraceFlags(TraceFlags.SAMPLED if is_sampled else TraceFlags.DEFAULT)
        return SpanContext(trace_id, span_id, is_remote=True, trace_flags=flags)


def _call_attributes(call_id: str) -> dict[str, str | int]:
    shard = shard_of(call_id) or NO_SHARD
    return {
        "switchroom.call_id": call_id,
        "switchroom.node": shard.node,
        "switchroom.slot": shard.slot,
    }
