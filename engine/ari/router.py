"""All ways to one PBX, and which of them a request takes."""

import asyncio
from collections.abc import Sequence

from engine.ari.http_transport import HttpTransport
from engine.ari.request import OnReply, Request
from engine.ari.websocket_transport import WebsocketTransport


class Router:
    """At least one websocket lane, each serving its share of the calls, and HTTP beside them."""

    def __init__(self, lanes: Sequence[WebsocketTransport], http: HttpTransport) -> None:
        self._lanes = tuple(lanes)
        self._http = http

    @property
    def ready(self) -> bool:
        """Whether every websocket lane is up; HTTP carries the requests of those that are not."""
        return all(lane.ready for lane in self._lanes)

    def send(self, request: Request, key: str, may_block: bool, done: OnReply) -> None:
        """Send one call's request; `key`, the call's id, keeps them in order on one lane.

        `may_block`: Asterisk may take long over it (addChannel or removeChannel while a playback
        runs), so it goes over HTTP, in no order with the others.
        """
        lane = self._lanes[hash(key) % len(self._lanes)]
        if may_block or not lane.ready:
            self._http.send(request, done)
        else:
            lane.send(request, done)

    async def run(self) -> None:
        """Keep the websockets until cancelled."""
        async with asyncio.TaskGroup() as group:
            for lane in self._lanes:
                group.create_task(lane.run())
