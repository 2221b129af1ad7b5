"""Requests over a dedicated websocket: half the cost of HTTP, no queueing behind events.

Asterisk serves the requests of one websocket one by one (res/ari/ari_websockets.c): a request
that may block belongs on `HttpTransport`.
"""

import asyncio
import itertools

import aiohttp
import msgspec
from aiohttp import WSMsgType
from msgspec import Struct

from engine.ari.config import PbxConnection
from engine.ari.generated.operations import asterisk
from engine.ari.reconnecting_websocket import (
    ReconnectingWebsocket,
    ServiceRefused,
    Websocket,
    close_reason,
)
from engine.ari.request import LOST, OnReply, Reply, Request

_MAX_PENDING = 10_000


class _RestRequest(Struct, frozen=True, gc=False, tag="RESTRequest", omit_defaults=True):
    request_id: str
    transaction_id: str
    method: str
    uri: str
    content_type: str = ""
    message_body: str = ""


class _RestResponse(Struct, frozen=True, gc=False):
    request_id: str = ""
    status_code: int = 0
    message_body: str = ""


class _Pending(Struct, frozen=True):
    on_reply: OnReply
    until_s: float


_encode = msgspec.json.Encoder().encode
_decoder: msgspec.json.Decoder[_RestResponse] = msgspec.json.Decoder(_RestResponse)


class WebsocketTransport:
    """Pipelines requests on one websocket, in order; replies are matched by request id.

    `app` must be unique: a second websocket of an app replaces the first.
    """

    def __init__(self, pbx: PbxConnection, app: str) -> None:
        # While Asterisk works on a request it answers no ping, so the pong may take as long.
        self._connection = ReconnectingWebsocket(pbx, app, heartbeat_s=2 * pbx.timeouts.request_s)
        self._timeouts = pbx.timeouts
        self._ids = itertools.count()
        self._pending: dict[str, _Pending] = {}
        self._outbox: list[bytes] = []
        self._wake = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self.is_ready = False

    def send(self, request: Request, on_reply: OnReply) -> None:
        """Send at once; LOST if not connected, or without a reply within the timeout."""
        loop = asyncio.get_running_loop()
        if not self.is_ready or len(self._pending) >= _MAX_PENDING:
            loop.call_soon(on_reply, LOST)
            return
        request_id = str(next(self._ids))
        until_s = loop.time() + self._timeouts.request_s
        self._pending[request_id] = _Pending(on_reply, until_s)
        self._outbox.append(_encode(_rest_request(request_id, request)))
        self._wake.set()
        if self._timer is None:
            self._timer = loop.call_at(until_s, self._expire)

    async def run(self) -> None:
        """Keep the websocket connected until cancelled; its loss makes pending requests LOST."""
        await self._connection.run(self._serve, lambda _reason: None)

    async def _serve(self, websocket: Websocket) -> str:
        await self._check_rest_support(websocket)
        writer = asyncio.create_task(self._write(websocket))
        self.is_ready = True
        try:
            return await self._read(websocket)
        finally:
            self.is_ready = False
            writer.cancel()
            self._fail_all()

    async def _check_rest_support(self, websocket: Websocket) -> None:
        # Asterisk before 20.14, 21.9 and 22.4 never answers a request on a websocket.
        await websocket.send_frame(_encode(_rest_request("probe", asterisk.ping())), WSMsgType.TEXT)
        try:
            await websocket.receive(self._timeouts.connect_s)
        except TimeoutError:
            raise ServiceRefused("no REST over the websocket: falling back to HTTP") from None

    async def _read(self, websocket: Websocket) -> str:
        while True:
            message = await websocket.receive()
            if message.type is not WSMsgType.TEXT:
                return close_reason(websocket)
            response = _decoder.decode(message.data)
            pending = self._pending.pop(response.request_id, None)
            if pending is not None:
                pending.on_reply(Reply(response.status_code, response.message_body.encode()))

    async def _write(self, websocket: Websocket) -> None:
        try:
            while await self._wake.wait():
                self._wake.clear()
                frames, self._outbox = self._outbox, []
                for frame in frames:
                    await websocket.send_frame(frame, WSMsgType.TEXT)
        except (aiohttp.ClientError, OSError):
            return  # the reader detects and reports the loss

    def _fail_all(self) -> None:
        pending, self._pending = self._pending, {}
        self._outbox.clear()
        for request in pending.values():
            request.on_reply(LOST)

    def _expire(self) -> None:
        # All have the same timeout, so the dict is in the order of expiry: one timer serves all.
        self._timer = None
        loop = asyncio.get_running_loop()
        while self._pending:
            request_id, oldest = next(iter(self._pending.items()))
            if oldest.until_s > loop.time():
                self._timer = loop.call_at(oldest.until_s, self._expire)
                return
            del self._pending[request_id]
            oldest.on_reply(LOST)


def _rest_request(request_id: str, request: Request) -> _RestRequest:
    if request.body is None:
        return _RestRequest(request_id, request_id, request.method, request.uri)
    body = _encode(request.body).decode()
    uri = request.uri
    return _RestRequest(request_id, request_id, request.method, uri, "application/json", body)
