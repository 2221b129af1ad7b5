"""Chooses the transport of each request to one PBX."""

import asyncio
from collections.abc import Sequence

from engine.ari.http_transport import HttpTransport
from engine.ari.request import OnReply, Request
from engine.ari.websocket_transport import WebsocketTransport


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
