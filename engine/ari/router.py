"""All ways to one PBX, and which of them a request takes."""

import asyncio
from collections.abc import Sequence

from engine.ari.http_transport import HttpTransport
from engine.ari.request import OnReply, Request
from engine.ari.websocket_transport import WebsocketTransport


class Router:
    """At least one websocket lane, each serving its share of the calls, and HTTP beside them."""

    def __init__(self, lanes: Sequence[WebsocketTransport], http: HttpTransport) -> None:
        self._websockets = tuple(lanes)
        self._http = http

    @property
    def is_ready(self) -> bool:
        """Whether every websocket lane is up; HTTP carries the requests of those that are not."""
        return all(lane.is_ready for lane in self._websockets)

    def send(self, request: Request, key: str, may_block: bool, done: OnReply) -> None:
        """Send one call's request; `key`, the call's id, keeps them in order on one lane.

        `may_block`: Asterisk may take long over it (addChannel or removeChannel while a playback
        runs), so it goes over HTTP, in no order with the others.
        """
        lane = self._websockets[hash(key) % len(self._websockets)]
        if may_block or not lane.is_ready:
            self._http.send(request, done)
        else:
            lane.send(request, done)

    async def run(self) -> None:
        """Keep the websockets until cancelled."""
        async with asyncio.TaskGroup() as group:
            for lane in self._websockets:
                group.create_task(lane.run())
