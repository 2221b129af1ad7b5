"""A phone that makes the standard IVR call and measures times on the wire.

Arrival times are from the kernel (SO_TIMESTAMPNS), so delays of this process do not count.
"""

import asyncio
import secrets
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import Struct

from tools.bench.ivr.load import DIGITS, DIGITS_AT_MS
from tools.bench.ivr.rtp import SDP, Packet, standard_caller

SO_TIMESTAMPNS = 35  # asm-generic/socket.h; Python does not name it
TIMEOUT_S = 10.0
MAX_WAIT_S = 1.5  # both sides wait at least two seconds for a missing digit
QUIET_S = 0.05  # a playing prompt sends every 20 ms
INVITE = (
    "INVITE sip:{number}@127.0.0.1:{pbx} SIP/2.0\r\n"
    "Via: SIP/2.0/UDP 127.0.0.1:{port};branch=z9hG4bK{call}\r\n"
    "From: <sip:+15550002@127.0.0.1:{port}>;tag={call}\r\n"
    "To: <sip:{number}@127.0.0.1:{pbx}>\r\nCall-ID: {call}\r\nCSeq: 1 INVITE\r\n"
    "Contact: <sip:+15550002@127.0.0.1:{port}>\r\nMax-Forwards: 70\r\n"
    "Content-Type: application/sdp\r\nContent-Length: {length}\r\n\r\n{sdp}"
)
ACK = (
    "ACK sip:{number}@127.0.0.1:{pbx} SIP/2.0\r\n"
    "Via: SIP/2.0/UDP 127.0.0.1:{port};branch=z9hG4bK{call}a\r\n"
    "From: <sip:+15550002@127.0.0.1:{port}>;tag={call}\r\n{to}\r\nCall-ID: {call}\r\n"
    "CSeq: 1 ACK\r\nMax-Forwards: 70\r\nContent-Length: 0\r\n\r\n"
)


class Waits(Struct, frozen=True):
    """Waits in milliseconds until the first packets of both prompts."""

    answer_to_prompt_ms: float
    digit_to_prompt_ms: float


class CallFailed(Exception):
    """The call differs from the standard call."""


async def standard_call(sip_port: int, number: str) -> Waits:
    """Make one call; raises CallFailed."""
    with _port() as sip, _port() as media:
        sip.connect(("127.0.0.1", sip_port))
        try:
            async with asyncio.timeout(TIMEOUT_S):
                return await _Phone(sip, media, sip_port, number).call()
        except TimeoutError:
            raise CallFailed("no answer, no prompt or no hangup in time") from None
        except ConnectionRefusedError:
            raise CallFailed("the PBX closed its media port before the last digit") from None


class _Phone:
    def __init__(
        self, sip: socket.socket, media: socket.socket, pbx_port: int, number: str
    ) -> None:
        self._sip = sip
        self._media = media
        self._names = {
            "number": number,
            "pbx": pbx_port,
            "port": sip.getsockname()[1],
            "call": secrets.token_hex(8),
        }

    async def call(self) -> Waits:
        answered_s, media_port = await self._wait_answered()
        self._media.connect(("127.0.0.1", media_port))
        heard: list[float] = []
        listening = asyncio.create_task(self._listen(heard))
        try:
            pressed_s = await self._speak()
            await self._wait_hung_up()
        finally:
            listening.cancel()
        return _waits(heard, answered_s, pressed_s)

    async def _wait_answered(self) -> tuple[float, int]:
        sdp = SDP.format(port=self._media.getsockname()[1])
        self._send(INVITE.format(**self._names, length=len(sdp), sdp=sdp))
        while True:
            at_s, text = await self._receive()
            status = text.split(" ", 2)[1]
            if status == "200":
                break
            if not status.startswith("1"):
                raise CallFailed(f"answered {status}")
        to = next(line for line in text.split("\r\n") if line.startswith("To:"))
        self._send(ACK.format(**self._names, to=to))
        return at_s, int(text.partition("m=audio ")[2].split(" ", 1)[0])

    async def _speak(self) -> float:
        """Send the caller's packets; returns when the last digit ended."""
        loop = asyncio.get_running_loop()
        began_s, pressed_s, before = loop.time(), 0.0, Packet(0, b"")
        for packet in standard_caller(DIGITS, DIGITS_AT_MS):
            await asyncio.sleep(began_s + packet.at_ms / 1000 - loop.time())  # as a phone does
            if packet.ends_digit and not before.ends_digit:
                pressed_s = time.time()
            self._media.send(packet.data)
            before = packet
        return pressed_s

    async def _listen(self, heard: list[float]) -> None:
        while True:
            heard.append((await _receive(self._media))[0])

    async def _wait_hung_up(self) -> None:
        while True:
            _, text = await self._receive()
            if text.startswith("BYE "):
                lines = text.split("\r\n")
                echoed_headers = ("Via:", "From:", "To:", "Call-ID:", "CSeq:")
                echoed = [line for line in lines if line.startswith(echoed_headers)]
                done = ["SIP/2.0 200 OK", *echoed, "Content-Length: 0", "", ""]
                self._send("\r\n".join(done))
                return

    async def _receive(self) -> tuple[float, str]:
        at_s, data = await _receive(self._sip)
        return at_s, data.decode()

    def _send(self, text: str) -> None:
        self._sip.send(text.encode())


def _waits(heard: list[float], answered_s: float, pressed_s: float) -> Waits:
    first = [at_s for at_s in heard if at_s < pressed_s]
    second = [at_s for at_s in heard if at_s >= pressed_s]
    if not first or not second:
        raise CallFailed(f"heard {len(first)} packets before the last digit, {len(second)} after")
    if pressed_s - first[-1] < QUIET_S:
        raise CallFailed("the first prompt had not ended when the last digit was pressed")
    if second[0] - pressed_s > MAX_WAIT_S:
        raise CallFailed("a digit was lost: the prompt came only after the digit timeout")
    return Waits((first[0] - answered_s) * 1000, (second[0] - pressed_s) * 1000)


async def _receive(port: socket.socket) -> tuple[float, bytes]:
    """Receive one datagram with its kernel arrival time (CLOCK_REALTIME)."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(port, ready.set)
    try:
        while True:
            try:
                data, ancillary, _flags, _address = port.recvmsg(4096, 64)
            except BlockingIOError:
                ready.clear()
                await ready.wait()
                continue
            seconds, nanoseconds = struct.unpack("qq", ancillary[0][2])
            return seconds + nanoseconds / 1e9, data
    finally:
        loop.remove_reader(port)


@contextmanager
def _port() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as port:
        port.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        port.bind(("127.0.0.1", 0))
        port.setblocking(False)
        yield port
