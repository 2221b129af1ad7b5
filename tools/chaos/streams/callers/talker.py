"""A caller who talks to an echo bot: a packet each 20 ms, every fifth of which has a mark."""

import asyncio
import os
import socket
import struct
import time
from collections import deque
from itertools import pairwise

from msgspec import Struct

from tests.harness.monotonic import now_ms
from tests.harness.phones.audio import cough
from tests.harness.phones.g711 import ULAW
from tools.bench.ivr.phone import SO_TIMESTAMPNS
from tools.bench.ivr.rtp import SILENCE
from tools.chaos.streams.callers.echoes import MARK_EVERY, Echo, EchoLog
from tools.chaos.streams.callers.sip_call import SipCall

MARK_BYTES = 16
_LOUD = 0x80  # the loudest 16 codes of µ-law follow
_HEADER = struct.Struct(">BBHII")
_STAMP = struct.Struct("qq")
_MAX_PAUSE_MS = 600  # of a bot after a cough, also on a busy machine
_COUGH = ULAW.encode(cough())


class TalkerNotice(Struct, frozen=True):
    """What one talker noticed of a fault, in milliseconds: marks that were lost, and silence."""

    has_coughed: bool
    missing_ms: list[int]  # after the beginning of the fault
    unheard_ms: int
    silence_ms: float


class Talker:
    """One call; all times are monotonic milliseconds. A bot pauses when a `coughing` one coughs."""

    def __init__(self, number: str, *, is_coughing: bool = False) -> None:
        self.is_coughing = is_coughing
        self.sip = SipCall()
        self.echoes = EchoLog()
        self.arrivals_ms: list[float] = []  # of all packets
        self._number = number
        self._media = _media_socket()
        self._stream = int.from_bytes(os.urandom(4))
        self._packets = 0
        self._awaited: dict[bytes, Echo] = {}
        self._sounds: deque[bytes] = deque()

    async def call(self, sip_port: int) -> None:
        """Call the number, and listen."""
        port = await self.sip.call(sip_port, self._number, self._media.getsockname()[1])
        self._media.connect(("127.0.0.1", port))
        asyncio.get_running_loop().add_reader(self._media, self._read)

    def close(self) -> None:
        """End the phone, which does not hang up."""
        asyncio.get_running_loop().remove_reader(self._media)
        self._media.close()
        self.sip.close()

    def cough(self) -> None:
        """Make a noise of 120 ms, between two marks."""
        size = len(SILENCE)
        self._sounds.extend(_COUGH[at : at + size] for at in range(0, len(_COUGH), size))

    def send_packet(self) -> None:
        """Send the next packet; called every 20 ms once the call is answered."""
        self._packets += 1
        if self._packets % MARK_EVERY == 0:
            payload = self._mark()
        else:
            payload = self._sounds.popleft() if self._sounds else SILENCE
        number, timestamp = self._packets & 0xFFFF, self._packets * len(SILENCE) & 0xFFFFFFFF
        try:
            self._media.send(_HEADER.pack(0x80, 0, number, timestamp, self._stream) + payload)
        except (BlockingIOError, ConnectionRefusedError):
            return  # lost, as it may be in any network

    def notice(self, began_ms: float, until_ms: float) -> TalkerNotice:
        """Return what was noticed between two times; a talker may cough at the first."""
        heard_ms = began_ms + (_MAX_PAUSE_MS if self.is_coughing else 0)
        return TalkerNotice(
            self.is_coughing,
            [round(each - began_ms) for each in self.echoes.missing(began_ms, until_ms)],
            self.echoes.unheard_ms(began_ms, until_ms),
            self._longest_silence_ms(heard_ms, max(heard_ms, until_ms)),
        )

    def _longest_silence_ms(self, since_ms: float, until_ms: float) -> float:
        within = [each for each in self.arrivals_ms if since_ms <= each <= until_ms]
        return max(later - earlier for earlier, later in pairwise((since_ms, *within, until_ms)))

    def _mark(self) -> bytes:
        mark = bytes(_LOUD | each & 0x0F for each in os.urandom(MARK_BYTES))
        self._awaited[mark] = self.echoes.sent(now_ms())
        return mark + SILENCE[MARK_BYTES:]

    def _read(self) -> None:
        wall_ahead_ms = (time.time_ns() - time.monotonic_ns()) / 1e6  # the kernel stamps wall time
        while True:
            try:
                data, stamps, _, _ = self._media.recvmsg(2048, 64)
            except BlockingIOError:
                return
            except ConnectionRefusedError:  # the PBX is down
                continue
            seconds, nanoseconds = _STAMP.unpack(stamps[0][2])
            at_ms = seconds * 1000 + nanoseconds / 1e6 - wall_ahead_ms
            self.arrivals_ms.append(at_ms)
            echo = self._awaited.pop(data[_HEADER.size : _HEADER.size + MARK_BYTES], None)
            if echo is not None:
                echo.returned_ms = at_ms


def _media_socket() -> socket.socket:
    found = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    found.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    found.bind(("127.0.0.1", 0))
    found.setblocking(False)
    return found
