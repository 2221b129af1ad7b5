"""The signalling of a phone in a browser: SIP over a secure websocket (RFC 7118), without audio.

It reaches the node as the REST layer does, from the address that the node expects.
"""

import asyncio
import re
import secrets
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
from yarl import URL

from tests.harness.pbx.asterisk import Pbx
from tests.harness.phones.digest_login import Login, authorization, register_request
from tests.harness.until import MAX_WAIT_S, until

PROXY = "127.0.0.2"
VIA = "WSS browser.invalid"
CONTACT = "{}.invalid;transport=ws"


class WebsocketPhone:
    """One connection."""

    def __init__(self, pbx: Pbx, login: Login, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._pbx = pbx
        self._login = login
        self._socket = socket

    @classmethod
    @asynccontextmanager
    async def connected(
        cls, pbx: Pbx, login: Login, trust: ssl.SSLContext | bool = True, *, url: str = ""
    ) -> AsyncIterator["WebsocketPhone"]:
        """Open the websocket; the certificate of a node that has one is verified.

        With the `url` of credentials it reaches the node through the REST layer, as a page of that.
        """
        connector = aiohttp.TCPConnector(local_addr=None if url else (PROXY, 0), ssl=trust)
        origin = str(URL(url).origin()).replace("ws", "http", 1) if url else None
        opening: dict[str, Any] = {"protocols": ["sip"], "origin": origin}
        async with (
            aiohttp.ClientSession(connector=connector) as session,
            session.ws_connect(url or f"{pbx.url}/ws", **opening) as socket,
        ):
            connection = socket.get_extra_info("socket")
            yield cls(pbx, login, socket)
        # aiohttp doesn't wait for the end of TLS; a loop that is closed before leaves it open
        await until(lambda: connection.fileno() < 0)

    async def register(self, contact: str = "") -> str:
        """Register with the password; returns the first line of the last response."""
        call_id = secrets.token_hex(8)
        contact = contact or CONTACT.format(secrets.token_hex(4))
        request = (self._pbx, self._login, VIA, contact, call_id)
        await self._socket.send_str(register_request(*request))
        answer = authorization(await self.receive("SIP/2.0"), self._pbx, self._login)
        await self._socket.send_str(register_request(*request, answer))
        return (await self.receive("SIP/2.0")).partition("\r\n")[0]

    async def receive(self, start: str) -> str:
        """Return the next message with this start."""
        async with asyncio.timeout(MAX_WAIT_S):
            while True:
                message = str((await self._socket.receive()).data)
                if message.startswith(start):
                    return message

    async def decline(self, invite: str) -> None:
        """Answer a call with 486."""
        copied = re.findall(r"^(?:Via|From|To|Call-ID|CSeq): .*$", invite, re.MULTILINE)
        headers = [line.strip() + (";tag=b" if line.startswith("To:") else "") for line in copied]
        lines = ("SIP/2.0 486 Busy Here", *headers, "Content-Length: 0", "", "")
        await self._socket.send_str("\r\n".join(lines))
