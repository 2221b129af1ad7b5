"""The client of one PBX: sends requests and receives events."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import aiohttp

from engine.ari.config import DEFAULT_TIMEOUTS, UNUSED_EVENTS, PbxAddress, PbxConnection, Timeouts
from engine.ari.decode import decode
from engine.ari.events import EventListener, EventSocket
from engine.ari.generated.models import AsteriskInfo
from engine.ari.generated.operations import asterisk
from engine.ari.http_transport import HttpTransport
from engine.ari.reconnecting_websocket import always_allowed
from engine.ari.request import OnReply, Reply, Request, ask
from engine.ari.subscription_probe import HealthProbe
from engine.ari.websocket_transport import WebsocketTransport

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
