"""RPC operations on the streams of a live call."""

from typing import Any

from aiohttp import web
from msgspec import Struct
from msgspec.structs import asdict

from engine.calls.model.call import Call
from engine.calls.model.requests import (
    ForkRequested,
    StreamRequest,
    StreamStopRequested,
    StreamTextRequested,
)
from engine.rpc.lookup import live_call_of
from engine.rpc.views.streams import call_streams_view
from engine.runtime.call_service import CallService
from wire.control import CallControl, SendStreamText, StartStream
from wire.tree import Limits, check_stream
from wire.verbs import StreamData
from wire.views import CallStreams


class StreamHandlers(Struct, frozen=True):
    service: CallService
    limits: Limits

    async def list(self, request: web.Request) -> CallStreams:
        account = request.query.get("account")
        return self._view(await live_call_of(self.service, request, account))

    async def start(self, request: web.Request, body: StartStream) -> CallStreams:
        data = _fork_of(body)
        check_stream(data, self.limits)
        return await self._request(request, body.account, ForkRequested(data))

    async def stop(self, request: web.Request, body: CallControl) -> CallStreams:
        stop = StreamStopRequested(request.match_info["stream"])
        return await self._request(request, body.account, stop)

    async def send_text(self, request: web.Request, body: SendStreamText) -> CallStreams:
        text = StreamTextRequested(request.match_info["stream"], body.text)
        return await self._request(request, body.account, text)

    async def _request(
        self, request: web.Request, account: str | None, event: StreamRequest
    ) -> CallStreams:
        call = await live_call_of(self.service, request, account)
        return self._view(await self.service.request(call.id, event))

    def _view(self, call: Call) -> CallStreams:
        return call_streams_view(call, self.service.now_ms())


def _fork_of(body: StartStream) -> StreamData:
    """Return what a bot gets of a live call: it only listens."""
    fields: dict[str, Any] = asdict(body)
    del fields["account"]
    return StreamData(**{**fields, "fork": True})
