"""A phone that measures how long its own audio needs to come back.

Each second one packet has a mark that no other one has; the kernel's arrival time of the packet
with the same audio is that of its echo.
"""

import asyncio
import itertools
import os
import secrets
import socket
import struct
import time

from tests.bench.ivr.phone import ACK, INVITE, SO_TIMESTAMPNS, CallFailed
from tests.bench.ivr.rtp import PACKET_MS, SDP, SILENCE

MARK_EVERY = 50  # packets
MARK_BYTES = 16
LOUD = 0xBF  # of ulaw's values; a gateway may drop a silent frame to make up for a delay
TIMEOUT_S = 10.0
_numbers = itertools.count(1)


class EchoPhone:
    """One call; `echoes_ms` are its round trips, `marks` is how many were sent."""

    def __init__(self) -> None:
        self.echoes_ms: list[float] = []
        self.marks = 0
        self.received: list[float] = []  # arrival of every packet
        self._sip, self._media = _port(), _port()
        self._sent_s: dict[bytes, float] = {}
        self._number = next(_numbers)

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

    async def speak(self, seconds: float) -> None:
        """Send a packet each 20 ms, some of them with a mark."""
        loop = asyncio.get_running_loop()
        began_s = loop.time() + self._number % 20 / 1000  # phones do not send all at once
        for index in range(int(seconds * 1000 / PACKET_MS)):
            await asyncio.sleep(began_s + index * PACKET_MS / 1000 - loop.time())  # as a phone does
            payload = SILENCE
            if index % MARK_EVERY == MARK_EVERY - 1:
                mark = bytes(each & LOUD for each in os.urandom(MARK_BYTES))
                payload = mark + SILENCE[MARK_BYTES:]
                self._sent_s[mark] = time.time()
                self.marks += 1
            header = struct.pack(">BBHII", 0x80, 0, index + 1, index * 160, self._number)
            self._media.send(header + payload)

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
            at_s = seconds + nanoseconds / 1e9
            self.received.append(at_s)
            sent_s = self._sent_s.pop(data[12 : 12 + MARK_BYTES], None)
            if sent_s is not None:
                self.echoes_ms.append((at_s - sent_s) * 1000)


def _port() -> socket.socket:
    port = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    port.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    port.bind(("127.0.0.1", 0))
    port.setblocking(False)
    return port
