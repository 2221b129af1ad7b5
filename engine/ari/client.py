"""One PBX as the engine sees it: requests go in, events come out."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import aiohttp

from engine.ari.config import UNUSED_EVENTS, PbxAddress, PbxConnection, Timeouts
from engine.ari.decode import decode
from engine.ari.events import EventListener, EventSocket
from engine.ari.generated.models import AsteriskInfo
from engine.ari.generated.operations import asterisk
from engine.ari.http_transport import HttpTransport
from engine.ari.reconnecting_websocket import always_allowed
from engine.ari.request import OnReply, Reply, Request, ask
from engine.ari.router import Router
from engine.ari.subscription_probe import HealthProbe
from engine.ari.websocket_transport import WebsocketTransport

# Asterisk closes an idle connection after 15 s (session_keep_alive in http.conf): be the first to.
_KEEP_ALIVE_S = 10.0


class AriClient:
    """A node's requests and events; `run` keeps its request websockets."""

    def __init__(self, pbx: PbxConnection, engine: str, lane_count: int = 4) -> None:
        self.name = pbx.address.name
        self._pbx = pbx
        self._http = HttpTransport(pbx)
        apps = [f"{engine}-rest-{number}" for number in range(lane_count)]
        self.router = Router([WebsocketTransport(pbx, app) for app in apps], self._http)

    def send(self, request: Request, key: str, may_block: bool, done: OnReply) -> None:
        """Send one call's request; see `Lanes.send`."""
        self.router.send(request, key, may_block, done)

    async def ask(self, request: Request) -> Reply:
        """Ask over HTTP and wait: for what is not on a call's path."""
        return await ask(self._http, request)

    async def version(self) -> str | None:
        """Give Asterisk's version, or None when it does not answer."""
        reply = await self.ask(asterisk.get_info(only=["system"]))
        system = decode(reply, AsteriskInfo).system if reply.ok else None
        return system.version if system else None

    def events(
        self,
        app: str,
        listener: EventListener,
        unused_events: tuple[str, ...] = UNUSED_EVENTS,
        may: Callable[[], bool] = always_allowed,
    ) -> EventSocket:
        """Prepare the events of one app; `run` connects while it `may`."""
        return EventSocket(self._pbx, app, listener, self._http, unused_events, may)

    def health_probe(self, note: Callable[[bool], None]) -> HealthProbe:
        """Prepare to ask whether the node can be reached; `run` asks."""
        return HealthProbe(self._pbx, note)

    async def run(self) -> None:
        """Keep the request websockets until cancelled."""
        await self.router.run()

    async def close(self) -> None:
        """End the requests that are under way."""
        await self._http.close()


@asynccontextmanager
async def open_ari(
    address: PbxAddress,
    engine: str,
    random: Callable[[], float],
    clock: Callable[[], float],
    patience: Timeouts = Timeouts(),  # noqa: B008 - frozen, so one for all is safe
) -> AsyncIterator[AriClient]:
    """Give the client of one node; no other process may have the same name for `engine`."""
    connector = aiohttp.TCPConnector(
        limit=patience.max_connections, keepalive_timeout=_KEEP_ALIVE_S
    )
    async with aiohttp.ClientSession(headers=address.headers, connector=connector) as http:
        ari = AriClient(PbxConnection(address, http, random, clock, patience), engine)
        try:
            yield ari
        finally:
            await ari.close()
