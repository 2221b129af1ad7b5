"""The signalling of a phone in a browser: SIP over a secure websocket (RFC 7118), without audio."""

import asyncio
import re
import secrets
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp

from tests.harness.pbx.asterisk import Pbx
from tests.harness.phones.digest_login import Login, authorization, register_request
from tests.harness.until import MAX_WAIT_S, until

VIA = "WSS browser.invalid"
CONTACT = "{}.invalid;transport=ws"


class WebsocketPhone:
    """One connection from the address of a login."""

    def __init__(self, pbx: Pbx, login: Login, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._pbx = pbx
        self._login = login
        self._socket = socket

    @classmethod
    @asynccontextmanager
    async def connected(
        cls, pbx: Pbx, login: Login, trust: ssl.SSLContext | bool = True
    ) -> AsyncIterator["WebsocketPhone"]:
        """Open the websocket; the certificate of a node that has one is verified."""
        connector = aiohttp.TCPConnector(local_addr=(login.host, 0), ssl=trust)
        async with (
            aiohttp.ClientSession(connector=connector) as session,
            session.ws_connect(f"{pbx.url}/ws", protocols=["sip"]) as socket,
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
