"""A node's websockets: whether they carry requests, and whether there is room for an engine's."""

from contextlib import AsyncExitStack

import aiohttp
import msgspec
from yarl import URL

from engine.cli.doctor.result import Finding, failure, ok, warning

ANSWER_S = 2.0
_PROOF = {
    "type": "RESTRequest",
    "transaction_id": "proof",
    "request_id": "proof",
    "method": "GET",
    "uri": "asterisk/ping",
}


async def check_websocket(name: str, http: aiohttp.ClientSession, ari: URL, app: str) -> Finding:
    """Ask over a websocket of an app of our own."""
    try:
        async with http.ws_connect((ari / "events").with_query(app=app)) as websocket:
            await websocket.send_str(msgspec.json.encode(_PROOF).decode())
            answer = await websocket.receive(ANSWER_S)
    except aiohttp.WSServerHandshakeError as error:
        advice = "load res_ari_events.so and res_http_websocket.so"
        return failure(name, f"no event websocket (HTTP {error.status})", advice)
    except TimeoutError:
        text = "no requests over the websocket: each costs twice as much over HTTP"
        return warning(name, text, "upgrade to Asterisk 20.14, 21.9, 22.4 or later")
    if answer.type is aiohttp.WSMsgType.TEXT:
        return ok(name, "takes requests over the websocket")
    return failure(name, "closes its event websocket", "see Asterisk's log")


async def check_sessions(
    name: str, http: aiohttp.ClientSession, ari: URL, sessions: int
) -> Finding:
    """Hold as many connections for a moment as one more engine would, each having been answered.

    Asterisk closes those beyond http.conf's `sessionlimit` (100 by default) without a word.
    """
    held = 0
    async with AsyncExitStack() as stack:
        try:
            for held in range(sessions):  # noqa: B007 - how far it came is the finding
                await stack.enter_async_context(http.get(ari / "asterisk/ping"))
        except (aiohttp.ClientError, OSError):
            text = f"room for {held} more HTTP sessions; an engine needs up to {sessions}"
            return warning(name, text, "set `sessionlimit = 2000` in its http.conf and reload")
    return ok(name, f"room for the {sessions} HTTP sessions of another engine")
