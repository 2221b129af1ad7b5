"""A trace collector: receives spans by OTLP over HTTP and keeps them."""

from collections.abc import Iterable

from aiohttp import web
from msgspec import Struct
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue

from tests.harness.servers.web_server import WebServer


class Span(Struct, frozen=True):
    """One span; ids are in hex."""

    name: str
    trace: str
    span: str
    parent: str
    attributes: dict[str, str]


class Collector(WebServer):
    """Keeps the spans that it receives."""

    def __init__(self) -> None:
        super().__init__()
        self.spans: list[Span] = []
        self.exports: list[bytes] = []  # as received

    def named(self, name: str) -> list[Span]:
        """Return the spans of a name."""
        return [span for span in self.spans if span.name == name]

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        """Serve the OTLP path."""
        return [web.post("/v1/traces", self._take)]

    async def _take(self, request: web.Request) -> web.Response:
        self.exports.append(await request.read())
        export = ExportTraceServiceRequest.FromString(self.exports[-1])
        for resource in export.resource_spans:
            for scope in resource.scope_spans:
                self.spans += [
                    Span(
                        span.name,
                        span.trace_id.hex(),
                        span.span_id.hex(),
                        span.parent_span_id.hex(),
                        {each.key: _text(each.value) for each in span.attributes},
                    )
                    for span in scope.spans
                ]
        body = ExportTraceServiceResponse().SerializeToString()
        return web.Response(body=body, content_type="application/x-protobuf")


def _text(value: AnyValue) -> str:
    return str(getattr(value, value.WhichOneof("value") or "string_value"))
