"""Checks of a node's websockets: ARI requests over them, and enough free HTTP sessions."""

from contextlib import AsyncExitStack

import aiohttp
import msgspec
from yarl import URL

from engine.cli.doctor.result import Finding, failure, ok, warning

RESPONSE_TIMEOUT_S = 2.0
_PING = {
    "type": "RESTRequest",
    "transaction_id": "ping",
    "request_id": "ping",
    "method": "GET",
    "uri": "asterisk/ping",
}


async def check_websocket(name: str, http: aiohttp.ClientSession, ari: URL, app: str) -> Finding:
    """Send a request over the websocket of an own app."""
    try:
        async with http.ws_connect((ari / "events").with_query(app=app)) as websocket:
            await websocket.send_str(msgspec.json.encode(_PING).decode())
            answer = await websocket.receive(RESPONSE_TIMEOUT_S)
    except aiohttp.WSServerHandshakeError as error:
        advice = "load res_ari_events.so and res_http_websocket.so"
        return failure(name, f"no event websocket (HTTP {error.status})", advice)
    except TimeoutError:
        text = "no ARI requests over the websocket: HTTP costs twice as much"
        return warning(name, text, "upgrade to Asterisk 20.14, 21.9, 22.4 or later")
    if answer.type is aiohttp.WSMsgType.TEXT:
        return ok(name, "accepts ARI requests over the websocket")
    return failure(name, "closes its event websocket", "see Asterisk's log")


async def check_sessions(
    name: str, http: aiohttp.ClientSession, ari: URL, sessions: int
) -> Finding:
    """Open as many sessions at once as another engine needs.

    Asterisk closes sessions beyond `sessionlimit` in http.conf (default 100) without an error.
    """
    opened = 0
    async with AsyncExitStack() as stack:
        try:
            for opened in range(sessions):  # noqa: B007 - the last value is the result
                await stack.enter_async_context(http.get(ari / "asterisk/ping"))
        except (aiohttp.ClientError, OSError):
            text = f"room for {opened} more HTTP sessions; an engine needs up to {sessions}"
            return warning(name, text, "set `sessionlimit = 2000` in its http.conf and reload")
    return ok(name, f"room for the {sessions} HTTP sessions of another engine")
