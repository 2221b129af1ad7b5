"""A phone whose caller's packets a bench sends itself; arrivals have the kernel's time.

async with MediaPhone() as phone:
    await phone.call(sip_port, "+15550790")
    phone.send(SILENCE)
    phone.packets  # what was heard
"""

import asyncio
import itertools
import os
import secrets
import socket
import struct
from collections.abc import AsyncIterator
from typing import Self

from msgspec import Struct

from tools.bench.ivr.phone import ACK, INVITE, SO_TIMESTAMPNS, CallFailed
from tools.bench.ivr.rtp import PACKET_MS, SDP, SILENCE

HEADER_BYTES = 12
TIMEOUT_S = 10.0
_LOUD = 0xBF  # of µ-law's values
_numbers = itertools.count(1)


class Packet(Struct, frozen=True):
    """A packet that was heard; `at_s` is wall-clock time."""

    at_s: float
    payload: bytes


class MediaPhone:
    """One call of µ-law; what it hears is kept until `packets` is cleared."""

    def __init__(self) -> None:
        self.packets: list[Packet] = []
        self._sip, self._media = _port(), _port()
        self._number = next(_numbers)
        self._index = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    async def call(self, sip_port: int, number: str) -> None:
        """Call a number, and wait for its answer."""
        self._sip.connect(("127.0.0.1", sip_port))
        names = {
            "number": number,
            "pbx": sip_port,
            "port": self._sip.getsockname()[1],
            "call": secrets.token_hex(8),
        }
        sdp = SDP.format(port=self._media.getsockname()[1])
        self._sip.send(INVITE.format(**names, length=len(sdp), sdp=sdp).encode())
        async with asyncio.timeout(TIMEOUT_S):
            text = await self._answer()
        to = next(line for line in text.split("\r\n") if line.startswith("To:"))
        self._sip.send(ACK.format(**names, to=to).encode())
        port = int(text.partition("m=audio ")[2].split(" ", 1)[0])
        self._media.connect(("127.0.0.1", port))
        asyncio.get_running_loop().add_reader(self._media, self._read)

    def send(self, payload: bytes) -> None:
        """Send the caller's next 20 ms."""
        self._index += 1
        timestamp = self._index * len(SILENCE)
        header = struct.pack(">BBHII", 0x80, 0, self._index, timestamp, self._number)
        self._media.send(header + payload)

    async def pace(self, count: int) -> AsyncIterator[int]:
        """Yield the number of each of `count` packets when it is due, as a phone does."""
        loop = asyncio.get_running_loop()
        phase_ms = self._number * 7 % PACKET_MS  # phones do not send all at once
        began_s = loop.time() + phase_ms / 1000
        for index in range(count):
            await asyncio.sleep(began_s + index * PACKET_MS / 1000 - loop.time())
            yield index

    def close(self) -> None:
        """End the phone; its call ends with the PBX."""
        asyncio.get_running_loop().remove_reader(self._media)
        self._sip.close()
        self._media.close()

    async def _answer(self) -> str:
        loop = asyncio.get_running_loop()
        while True:
            text = (await loop.sock_recv(self._sip, 4096)).decode()
            status = text.split(" ", 2)[1]
            if status == "200":
                return text
            if not status.startswith("1"):
                raise CallFailed(f"answered {status}")

    def _read(self) -> None:
        while True:
            try:
                data, ancillary, _flags, _address = self._media.recvmsg(2048, 64)
            except (BlockingIOError, ConnectionRefusedError):
                return
            seconds, nanoseconds = struct.unpack("qq", ancillary[0][2])
            self.packets.append(Packet(seconds + nanoseconds / 1e9, data[HEADER_BYTES:]))


def loud_bytes(count: int) -> bytes:
    """Return random µ-law that is no silence: of that, a gateway may drop some."""
    return bytes(each & _LOUD for each in os.urandom(count))


def _port() -> socket.socket:
    port = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    port.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    port.bind(("127.0.0.1", 0))
    port.setblocking(False)
    return port
