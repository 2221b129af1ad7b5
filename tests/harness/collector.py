"""A collector of spans: takes OTLP over HTTP, as any tracing system does, and keeps them."""

from typing import Self

from aiohttp import web
from msgspec import Struct
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)


class Told(Struct, frozen=True):
    """A span: its name, its trace, its own id and its parent's, in hex, and its attributes."""

    name: str
    trace: str
    span: str
    parent: str
    attributes: dict[str, str]


class Collector:
    """Serves on a free port of 127.0.0.1."""

    def __init__(self) -> None:
        self.spans: list[Told] = []
        self._port = 0
        self._runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        """Return where spans are to be sent."""
        return f"http://127.0.0.1:{self._port}"

    def named(self, name: str) -> list[Told]:
        """List the spans of a name."""
        return [span for span in self.spans if span.name == name]

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_post("/v1/traces", self._take)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self._port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def _take(self, request: web.Request) -> web.Response:
        asked = ExportTraceServiceRequest.FromString(await request.read())
        for resource in asked.resource_spans:
            for scope in resource.scope_spans:
                self.spans += [
                    Told(
                        span.name,
                        span.trace_id.hex(),
                        span.span_id.hex(),
                        span.parent_span_id.hex(),
                        {each.key: each.value.string_value for each in span.attributes},
                    )
                    for span in scope.spans
                ]
        body = ExportTraceServiceResponse().SerializeToString()
        return web.Response(body=body, content_type="application/x-protobuf")
