"""The client of one PBX: sends requests over websockets or HTTP, and receives events."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress

import aiohttp
import msgspec
import structlog
from aiohttp import WSMsgType
from msgspec import Struct

from base.tasks import cancel_all
from engine.ari.config import DEFAULT_TIMEOUTS, UNUSED_EVENTS, PbxAddress, PbxConnection, Timeouts
from engine.ari.events import EventListener, EventSocket, HealthProbe, decode
from engine.ari.generated.models import AsteriskInfo
from engine.ari.generated.operations import asterisk
from engine.ari.reconnecting_websocket import (
    ReconnectingWebsocket,
    ServiceRefused,
    Websocket,
    always_allowed,
    close_reason,
)
from engine.ari.request import LOST, OnReply, Reply, Request, ask

REPEAT_AFTER_S = (0.2, 0.4)  # without a connection

log = structlog.get_logger()


class HttpTransport:
    """Uses a pool of connections: a blocked request delays no other."""

    def __init__(self, pbx: PbxConnection) -> None:
        self._pbx = pbx
        self._in_flight: set[asyncio.Task[Reply]] = set()

    def send(self, request: Request, on_reply: OnReply) -> None:
        """Send at once; a reply slower than the timeout counts as LOST."""
        task = asyncio.get_running_loop().create_task(self._request(request))
        self._in_flight.add(task)
        task.add_done_callback(lambda ended: self._settle(ended, on_reply))

    async def close(self) -> None:
        """Cancel the requests in flight; each gets the reply LOST."""
        await cancel_all(self._in_flight)

    def _settle(self, task: asyncio.Task[Reply], on_reply: OnReply) -> None:
        self._in_flight.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:  # a closed session, a request that cannot be sent
            log.error("ari request failed", exc_info=error)
        on_reply(LOST if error is not None or task.cancelled() else task.result())

    async def _request(self, request: Request) -> Reply:
        try:
            async with asyncio.timeout(self._pbx.timeouts.request_s):
                for connect_s in REPEAT_AFTER_S:
                    with suppress(aiohttp.ConnectionTimeoutError):  # so it was not sent
                        return await self._try(request, connect_s)
                return await self._try(request, None)
        except (aiohttp.ClientError, OSError, TimeoutError):
            return LOST

    async def _try(self, request: Request, connect_s: float | None) -> Reply:
        async with self._pbx.http.request(
            request.method,
            self._pbx.url_for(request.uri),
            json=request.body,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=connect_s),
        ) as response:
            return Reply(response.status, await response.read())


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


# Shorter than the 15 s after which Asterisk closes idle connections (session_keep_alive).
_KEEP_ALIVE_S = 10.0


class Router:
    """One or more websockets, each for a share of the calls, and HTTP beside them."""

    def __init__(self, websockets: Sequence[WebsocketTransport], http: HttpTransport) -> None:
        self._websockets = tuple(websockets)
        self._http = http

    @property
    def is_ready(self) -> bool:
        """Whether every websocket is connected; HTTP replaces those that are not."""
        return all(each.is_ready for each in self._websockets)

    def send(self, request: Request, key: str, may_block: bool, on_reply: OnReply) -> None:
        """Send one call's request; `key`, the call's id, keeps them in order on one websocket.

        `may_block`: Asterisk may need long (addChannel or removeChannel during a playback), so the
        request is sent over HTTP, not in order with the others.
        """
        websocket = self._websockets[hash(key) % len(self._websockets)]
        if may_block or not websocket.is_ready:
            self._http.send(request, on_reply)
        else:
            websocket.send(request, on_reply)

    async def run(self) -> None:
        """Keep the websockets connected until cancelled."""
        async with asyncio.TaskGroup() as group:
            for websocket in self._websockets:
                group.create_task(websocket.run())


class AriClient:
    """A node's requests and events; `run` keeps its request websockets connected."""

    def __init__(self, pbx: PbxConnection, engine: str, websocket_count: int = 4) -> None:
        self.name = pbx.address.name
        self._pbx = pbx
        self._http = HttpTransport(pbx)
        apps = [f"{engine}-rest-{number}" for number in range(websocket_count)]
        self.router = Router([WebsocketTransport(pbx, app) for app in apps], self._http)

    @property
    def keeps_order(self) -> bool:
        """Whether requests of one call arrive in order: over HTTP one may overtake another."""
        return self.router.is_ready

    def send(self, request: Request, key: str, may_block: bool, on_reply: OnReply) -> None:
        self.router.send(request, key, may_block, on_reply)

    async def ask(self, request: Request) -> Reply:
        """Send over HTTP and wait: for requests that no call waits for."""
        return await ask(self._http, request)

    async def version(self) -> str | None:
        """Return Asterisk's version, or None when it does not respond."""
        reply = await self.ask(asterisk.get_info(only=["system"]))
        system = decode(reply, AsteriskInfo).system if reply.ok else None
        return system.version if system else None

    def events(
        self,
        app: str,
        listener: EventListener,
        unused_events: tuple[str, ...] = UNUSED_EVENTS,
        is_allowed: Callable[[], bool] = always_allowed,
    ) -> EventSocket:
        """Create the event websocket of one app; its `run` connects only while allowed."""
        return EventSocket(self._pbx, app, listener, self._http, unused_events, is_allowed)

    def health_probe(
        self, on_result: Callable[[bool], None], *, is_rare: bool = False
    ) -> HealthProbe:
        """Create a probe of whether the node responds; its `run` probes."""
        return HealthProbe(self._pbx, on_result, is_rare)

    async def run(self) -> None:
        await self.router.run()

    async def close(self) -> None:
        """End the requests in flight."""
        await self._http.close()


@asynccontextmanager
async def open_ari(
    address: PbxAddress,
    engine: str,
    random: Callable[[], float],
    clock: Callable[[], float],
    timeouts: Timeouts = DEFAULT_TIMEOUTS,
) -> AsyncIterator[AriClient]:
    """Open the client of one node; no other process may use the same name for `engine`."""
    connector = aiohttp.TCPConnector(
        limit=timeouts.max_connections, keepalive_timeout=_KEEP_ALIVE_S, ssl=address.tls or True
    )
    async with aiohttp.ClientSession(headers=address.headers, connector=connector) as http:
        ari = AriClient(PbxConnection(address, http, random, clock, timeouts), engine)
        try:
            yield ari
        finally:
            await ari.close()
