"""Requests over RPC as spans."""

from pathlib import Path

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from engine.observe.otel import OtelTraces
from engine.observe.telemetry import Telemetry
from tests.harness.rpc.scene import CALL, running

TRACE = "0af7651916cd43dd8448eb211c80319c"
HEADERS = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}


async def test_a_request_is_a_span_of_its_callers_trace(tmp_path: Path) -> None:
    """The span is in the caller's trace, and has the call id and the status."""
    spans = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    async with running(tmp_path, Telemetry(traces=OtelTraces(provider))) as scene:
        _, started = await scene.request("POST", "/calls", CALL, headers=HEADERS)
        await scene.request("GET", "/calls/0-pbx1-00000000", headers=HEADERS)
    began, missed = spans.get_finished_spans()
    assert [began.name, missed.name] == ["RPC POST /calls", "RPC GET /calls/{call}"]
    for span in (began, missed):
        assert span.context
        assert f"{span.context.trace_id:032x}" == TRACE
        assert span.parent
    body = dict(began.attributes or {})
    assert body["switchroom.call_id"] == started["callId"]
    assert body["http.response.status_code"] == 201
    assert dict(missed.attributes or {})["http.response.status_code"] == 404
