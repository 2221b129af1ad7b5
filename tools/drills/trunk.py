"""The carrier's side of the trunk: counts calls and rejects them as busy; calls numbers itself."""

import asyncio
import re
import secrets
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

_COPIED = ("via", "from", "to", "call-id", "cseq")
_FINAL = range(200, 700)
_HEADER = re.compile(r"^([A-Za-z-]+):[^\r\n]*", re.MULTILINE)


class Trunk(asyncio.DatagramProtocol):
    """Keeps the request address of each call, which is what would cost money."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.responses = Counter[str]()  # the final ones to its own calls
        self._transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def datagram_received(self, data: bytes, address: tuple[str, int]) -> None:
        """Answer a request."""
        text = data.decode(errors="replace")
        method, _, rest = text.partition(" ")
        if method == "SIP/2.0":
            self._acknowledge(text, int(rest[:3]), address)
            return
        if method == "INVITE":
            self.calls.append(rest.partition(" ")[0])
        status = {"INVITE": "486 Busy Here", "OPTIONS": "200 OK", "BYE": "200 OK"}.get(method)
        if status is not None and self._transport is not None:
            copied = [found[0] for found in _HEADER.finditer(text) if found[1].lower() in _COPIED]
            lines = [f"SIP/2.0 {status}", *copied, "Content-Length: 0", "", ""]
            answer = "\r\n".join(line if not _is_to(line) else f"{line};tag=1" for line in lines)
            self._transport.sendto(answer.encode(), address)

    def invite(self, port: int, number: str) -> None:
        """Call a number of the PBX at a port; what answers it stays until the PBX hangs up."""
        assert self._transport is not None
        host, own_port = self._transport.get_extra_info("sockname")
        name, here = secrets.token_hex(8), f"{host}:{own_port}"
        media = f"c=IN IP4 {host}\r\nt=0 0\r\nm=audio {own_port} RTP/AVP 0\r\n"
        body = f"v=0\r\no=- 1 1 IN IP4 {host}\r\ns=-\r\n{media}"
        head = (
            f"INVITE sip:{number}@{host}:{port} SIP/2.0",
            f"Via: SIP/2.0/UDP {here};branch=z9hG4bK{name}",
            f"From: <sip:+15550009@{host}>;tag={name}",
            f"To: <sip:{number}@{host}>",
            f"Call-ID: {name}",
            "CSeq: 1 INVITE",
            f"Contact: <sip:{here}>",
            "Max-Forwards: 70",
            "Content-Type: application/sdp",
            f"Content-Length: {len(body)}",
        )
        self._transport.sendto("\r\n".join((*head, "", body)).encode(), (host, port))

    def _acknowledge(self, text: str, status: int, address: tuple[str, int]) -> None:
        headers = {found[1].lower(): found[0] for found in _HEADER.finditer(text)}
        if status not in _FINAL or "INVITE" not in headers["cseq"] or self._transport is None:
            return
        self.responses[str(status)] += 1
        number = headers["to"].partition("<")[2].partition(">")[0]
        via = headers["via"].replace("z9hG4bK", "z9hG4bKa", 1) if status < 300 else headers["via"]
        copied = (via, headers["from"], headers["to"], headers["call-id"], "CSeq: 1 ACK")
        lines = (f"ACK {number} SIP/2.0", *copied, "Max-Forwards: 70", "Content-Length: 0", "", "")
        self._transport.sendto("\r\n".join(lines).encode(), address)


def _is_to(line: str) -> bool:
    return line.lower().startswith("to:") and ";tag=" not in line


@asynccontextmanager
async def open_trunk(port: int) -> AsyncIterator[Trunk]:
    """Listen on a port of loopback."""
    loop = asyncio.get_running_loop()
    transport, trunk = await loop.create_datagram_endpoint(Trunk, local_addr=("127.0.0.1", port))
    try:
        yield trunk
    finally:
        transport.close()
