"""Spans: their parents and attributes."""

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON, Sampler

from engine.ari.generated.operations import channels
from engine.observe.otel import OtelTraces
from engine.runtime.io.instrumentation import Traced
from engine.runtime.pbx.wrappers import TracedPbx
from engine.webhooks.action_client import ActionResponse
from engine.webhooks.errors import WebhookFailed
from tests.harness.runtime.recording_pbx import LOST, RecordingPbx

CALL = "3-pbx1-0123456789"
TRACE = "0af7651916cd43dd8448eb211c80319c"
HEADERS = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}


class Scene:
    """Traces whose spans stay in memory."""

    def __init__(self, sampler: Sampler = ALWAYS_ON) -> None:
        self._spans = InMemorySpanExporter()
        provider = TracerProvider(sampler=sampler)
        provider.add_span_processor(SimpleSpanProcessor(self._spans))
        self.traces = OtelTraces(provider)

    @property
    def ended_spans(self) -> list[tuple[str, str, bool]]:
        """List the ended spans: name, trace, success."""
        return [
            (span.name, f"{span.context.trace_id:032x}", span.status.is_ok or span.status.is_unset)
            for span in self._spans.get_finished_spans()
            if span.context
        ]

    def attribute(self, name: str) -> object:
        """Return an attribute of the last span."""
        return dict(self._spans.get_finished_spans()[-1].attributes or {}).get(name)


class CarryingAsker:
    """A customer's server that records the trace headers."""

    def __init__(self, scene: Scene, fault: WebhookFailed | None = None) -> None:
        self._scene = scene
        self._fault = fault
        self.carried: dict[str, str] = {}

    async def ask(self) -> ActionResponse:
        """Return no action, or fail."""
        self.carried = dict(self._scene.traces.headers())
        if self._fault is not None:
            raise self._fault
        return ActionResponse(None, ())


def _sent(scene: Scene, key: str = CALL) -> RecordingPbx:
    pbx = RecordingPbx()
    request = channels.play_with_id(f"{CALL}.l0", f"{CALL}.p1", media=["sound:x"])
    TracedPbx(pbx, scene.traces).send(request, key, False, lambda _reply: None)
    return pbx


def test_a_calls_requests_stand_under_the_request_that_began_it() -> None:
    """From the caller's trace to the PBX: one trace, each span with the call's id."""
    scene = Scene()
    with scene.traces.server_span("RPC POST /calls", HEADERS) as span:
        scene.traces.link_call(CALL)
        span.end()
    _sent(scene).reply()
    assert scene.ended_spans == [
        ("RPC POST /calls", TRACE, True),
        ("ARI POST channels/play", TRACE, True),
    ]
    assert scene.attribute("switchroom.call_id") == CALL
    assert scene.attribute("switchroom.node") == "pbx1"
    assert scene.attribute("switchroom.slot") == 3


def test_an_untraced_call_has_its_own_trace() -> None:
    """The trace id derives from the call's id: another engine derives the same one."""
    traces = []
    for scene in (Scene(), Scene()):
        _sent(scene).reply()
        traces.append(scene.ended_spans[0][1])
    assert traces[0] == traces[1] != TRACE


def test_unsampled_calls_are_not_exported() -> None:
    """The sampler also decides for calls without a traced request."""
    scene = Scene(ALWAYS_OFF)
    _sent(scene).reply()
    assert scene.ended_spans == []


def test_a_lost_request_is_a_fault() -> None:
    """A request without a reply is an error."""
    scene = Scene()
    _sent(scene).reply(LOST)
    assert [is_ok for _, _, is_ok in scene.ended_spans] == [False]


def test_what_is_no_calls_leaves_no_span() -> None:
    """Hanging up an unknown channel creates no span."""
    scene = Scene()
    _sent(scene, "1763713231.5").reply()
    assert scene.ended_spans == []


async def test_a_webhook_gets_the_trace() -> None:
    """The customer's server gets the trace of the call."""
    scene = Scene()
    asker = CarryingAsker(scene)
    await Traced(scene.traces)(f"{CALL}.r1", asker.ask())
    name, trace, is_ok = scene.ended_spans[0]
    assert (name, is_ok) == ("webhook", True)
    assert asker.carried["traceparent"].split("-")[1] == trace
    assert scene.attribute("switchroom.request_id") == f"{CALL}.r1"


async def test_a_webhook_that_fails_is_a_fault() -> None:
    """The span has the reason."""
    scene = Scene()
    asker = CarryingAsker(scene, WebhookFailed("timeout", "no answer", ()))
    with pytest.raises(WebhookFailed):
        await Traced(scene.traces)(f"{CALL}.r1", asker.ask())
    assert [is_ok for _, _, is_ok in scene.ended_spans] == [False]
