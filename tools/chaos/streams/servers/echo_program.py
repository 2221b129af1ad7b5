"""Bots that echo, as a program: `python -m tools.chaos.streams.servers.echo_program PORT`.

They speak Twilio's messages at /echo. Those at /fork only listen; `GET /forks` counts what each of
them has heard, by its number.
"""

import asyncio
import itertools
import json
import sys
from functools import partial

import uvloop
from picows import (
    WSFrame,
    WSListener,
    WSMsgType,
    WSTransport,
    WSUpgradeRequest,
    WSUpgradeResponse,
    WSUpgradeResponseWithListener,
    ws_create_server,
)

_MEDIA = b'"event":"media"'
_numbers = itertools.count()


class EchoBot(WSListener):
    """Returns each message with audio as it is."""

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        """See WSListener."""
        if frame.msg_type is WSMsgType.CLOSE:
            transport.disconnect()
        elif _MEDIA in (data := frame.get_payload_as_bytes())[:32]:
            transport.send(WSMsgType.TEXT, data)


class ForkBot(WSListener):
    """Counts messages with audio; `heard` has the counts of those that are connected."""

    def __init__(self, heard: dict[int, int]) -> None:
        self._number = next(_numbers)
        self._heard = heard

    def on_ws_connected(self, transport: WSTransport) -> None:  # noqa: ARG002 - the only one
        """See WSListener."""
        self._heard[self._number] = 0

    def on_ws_disconnected(self, transport: WSTransport) -> None:  # noqa: ARG002 - the only one
        """See WSListener."""
        self._heard.pop(self._number, None)

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        """See WSListener."""
        if frame.msg_type is WSMsgType.CLOSE:
            transport.disconnect()
        elif _MEDIA in frame.get_payload_as_bytes()[:32]:
            self._heard[self._number] += 1


def answer(
    forks: dict[int, int], request: WSUpgradeRequest
) -> WSListener | WSUpgradeResponseWithListener:
    """Return the bot of a connection, or the counts of forks."""
    if request.path == b"/fork":
        return ForkBot(forks)
    if request.path == b"/echo":
        return EchoBot()
    body = json.dumps(forks).encode()
    return WSUpgradeResponseWithListener(
        WSUpgradeResponse.create_ok_response(body, {"Content-Type": "application/json"}), None
    )


async def main(port: int) -> None:
    """Serve until the process ends."""
    server = await ws_create_server(partial(answer, {}), "127.0.0.1", port)
    async with server:
        await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1])))
