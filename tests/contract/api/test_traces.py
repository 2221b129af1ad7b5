"""A request's trace: from the client through the REST layer's process to an engine."""

from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from engine.observe.otel import OtelTraces
from engine.observe.telemetry import Telemetry
from tests.harness.rpc.scene import TOKEN, running
from tests.harness.servers.api_process import ACCOUNT, ApiProcess
from tests.harness.servers.span_collector import Collector
from tests.harness.until import until

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
HEADERS = {"traceparent": f"00-{TRACE}-{PARENT}-01"}
FAST_EXPORT = {"OTEL_BSP_SCHEDULE_DELAY": "100"}  # milliseconds
CALL_PATH = "/srmain/voice/call-details"


class Scene:
    """A REST layer as a process, whose spans are collected, and the spans of its engine."""

    def __init__(self, api: ApiProcess, collector: Collector, spans: InMemorySpanExporter) -> None:
        self.api = api
        self.collector = collector
        self._spans = spans

    def of_engine(self, name: str) -> list[ReadableSpan]:
        """Return the engine's spans of a name."""
        return [span for span in self._spans.get_finished_spans() if span.name == name]

    async def request(self, path: str, authorization: str, **headers: str) -> int:
        """Send a request, and return the status."""
        sent = {"Authorization": authorization, **headers}
        async with (
            aiohttp.ClientSession(headers=sent) as session,
            session.get(self.api.url + path) as reply,
        ):
            return reply.status


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    """Run both; the REST layer finds its collector by OpenTelemetry's variables."""
    spans, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    async with (
        running(tmp_path / "engine", Telemetry(traces=OtelTraces(provider))) as scene,
        Collector() as collector,
        ApiProcess(
            tmp_path / "api",
            engine_urls=[scene.url],
            rpc_token=TOKEN,
            settings={
                "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url(),
                "SWITCHROOM_KEYS_AS_TOKENS": "true",
                **FAST_EXPORT,
            },
        ) as api,
    ):
        yield Scene(api, collector, spans)


async def test_the_engines_span_is_a_child_of_the_rest_layers(scene: Scene) -> None:
    """Both are in the client's trace; the route, the status and the account are attributes."""
    path = f"{CALL_PATH}/0-pbx1-0123456789"
    assert await scene.request(path, scene.api.api_key, **HEADERS) == 404
    name = f"REST GET {CALL_PATH}/{{callId}}"
    await until(lambda: bool(scene.collector.named(name)), what="the span")
    (span,) = scene.collector.named(name)
    assert (span.trace, span.parent) == (TRACE, PARENT)
    assert span.attributes["http.route"] == f"{CALL_PATH}/{{callId}}"
    assert span.attributes["http.response.status_code"] == "404"
    assert span.attributes["switchroom.account"] == ACCOUNT
    (engines,) = scene.of_engine("RPC GET /calls/{call}")
    assert engines.context
    assert engines.parent
    assert f"{engines.context.trace_id:032x}" == TRACE
    assert f"{engines.parent.span_id:016x}" == span.span


async def test_a_denied_request_has_a_span_without_an_account(scene: Scene) -> None:
    """Without a parent it begins a trace."""
    assert await scene.request(f"{CALL_PATH}/0-pbx1-0123456789", "wrong") == 401
    await until(lambda: bool(scene.collector.spans), what="a span")
    (span,) = scene.collector.spans
    assert (span.parent, "switchroom.account" in span.attributes) == ("", False)
    assert span.attributes["http.response.status_code"] == "401"
