"""A phone's registration that stays: it registers again from its address and answers OPTIONS."""

import asyncio
import hashlib
import re
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.harness.pbx.asterisk import Pbx
from tests.harness.ports import free_port
from tests.harness.until import until

OPTIONS_HEADERS = ("Via", "From", "To", "Call-ID", "CSeq")


class RegisteredContact(asyncio.DatagramProtocol):
    """One SIP socket; an unplugged phone receives nothing."""

    def __init__(self, pbx: Pbx, agent: str) -> None:
        self.is_unplugged = False
        self._pbx = pbx
        self._agent = agent
        self._uri = f"sip:127.0.0.1:{pbx.sip_port}"
        self._call_id = secrets.token_hex(8)
        self._sequence = 0
        self._registered = 0
        self._port = free_port()
        self._transport: asyncio.DatagramTransport | None = None

    @classmethod
    @asynccontextmanager
    async def of(cls, pbx: Pbx, agent: str) -> AsyncIterator["RegisteredContact"]:
        """Register as an agent."""
        contact = cls(pbx, agent)
        loop = asyncio.get_running_loop()
        transport, _ = await loop.create_datagram_endpoint(
            lambda: contact, ("127.0.0.1", contact._port), ("127.0.0.1", pbx.sip_port)
        )
        contact._transport = transport
        try:
            await contact.register()
            yield contact
        finally:
            transport.close()

    async def register(self) -> None:
        """Register, and wait until that is accepted."""
        before = self._registered
        self._send_register()
        await until(lambda: self._registered > before, what="a 200 to REGISTER")

    def datagram_received(self, data: bytes, _address: object) -> None:
        if self.is_unplugged:
            return
        text = data.decode()
        if text.startswith("OPTIONS"):
            self._answer(text)
        elif text.startswith("SIP/2.0 401"):
            self._send_register(self._login(text))
        elif text.startswith("SIP/2.0 200"):
            self._registered += 1

    def error_received(self, _error: Exception) -> None:
        """Ignore ICMP errors; SIP has its own timers."""

    def _send_register(self, *login: str) -> None:
        self._sequence += 1
        address = f"<sip:{self._agent}@127.0.0.1:{self._port}>"
        branch = f"z9hG4bK{self._call_id}{self._sequence}"
        self._send(
            f"REGISTER {self._uri} SIP/2.0",
            f"Via: SIP/2.0/UDP 127.0.0.1:{self._port};branch={branch};rport",
            f"From: {address};tag={self._call_id}",
            f"To: {address}",
            f"Call-ID: {self._call_id}",
            f"CSeq: {self._sequence} REGISTER",
            f"Contact: {address}",
            "Expires: 3600",
            *login,
        )

    def _login(self, challenge: str) -> str:
        """Answer a digest challenge (RFC 2617)."""
        values = dict(re.findall(r'(realm|nonce|opaque)="([^"]*)"', challenge))
        user = _md5(self._agent, values["realm"], self._pbx.passwords.agents)
        request, count, own = _md5("REGISTER", self._uri), "00000001", secrets.token_hex(4)
        digest = _md5(user, values["nonce"], count, own, "auth", request)
        return (
            f'Authorization: Digest username="{self._agent}", realm="{values["realm"]}", '
            f'nonce="{values["nonce"]}", uri="{self._uri}", response="{digest}", '
            f'algorithm=MD5, qop=auth, nc={count}, cnonce="{own}", '
            f'opaque="{values.get("opaque", "")}"'
        )

    def _answer(self, request: str) -> None:
        kept = [each for each in request.split("\r\n") if each.startswith(OPTIONS_HEADERS)]
        self._send("SIP/2.0 200 OK", *kept)

    def _send(self, *lines: str) -> None:
        if self._transport is not None:
            self._transport.sendto("\r\n".join((*lines, "Content-Length: 0", "\r\n")).encode())


def _md5(*parts: str) -> str:
    return hashlib.md5(":".join(parts).encode(), usedforsecurity=False).hexdigest()
