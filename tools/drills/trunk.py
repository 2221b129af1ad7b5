"""The carrier's side of the trunk: answers OPTIONS, counts calls, and rejects them as busy."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

_COPIED = ("via", "from", "to", "call-id", "cseq")
_HEADER = re.compile(r"^([A-Za-z-]+):[^\r\n]*", re.MULTILINE)


class Trunk(asyncio.DatagramProtocol):
    """Keeps the request address of each call, which is what would cost money."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self._transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.DatagramTransport) -> None:  # type: ignore[override]  # it is one
        self._transport = transport

    def datagram_received(self, data: bytes, address: tuple[str, int]) -> None:
        """Answer a request."""
        text = data.decode(errors="replace")
        method, _, rest = text.partition(" ")
        if method == "INVITE":
            self.calls.append(rest.partition(" ")[0])
        status = {"INVITE": "486 Busy Here", "OPTIONS": "200 OK"}.get(method)
        if status is not None and self._transport is not None:
            copied = [found[0] for found in _HEADER.finditer(text) if found[1].lower() in _COPIED]
            lines = [f"SIP/2.0 {status}", *copied, "Content-Length: 0", "", ""]
            answer = "\r\n".join(line if not _is_to(line) else f"{line};tag=1" for line in lines)
            self._transport.sendto(answer.encode(), address)


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
