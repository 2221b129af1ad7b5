"""The audio of one call: sends sound and keys in real time, and keeps what it receives.

It sends even when it has nothing to say: Asterisk ends a call whose phone is silent for too long.
"""

import asyncio
import secrets
import struct
from collections.abc import Callable
from typing import cast

from dev.phone.g711 import RATE_HZ, SILENCE

EVENTS_TYPE = 101
KEYS = "0123456789*#ABCD"
_ULAW_TYPE = 0
_FRAME_S = 0.02
_FRAME_SAMPLES = RATE_HZ // 50
_FRAME = bytes([SILENCE]) * _FRAME_SAMPLES
_HEADER = struct.Struct("!BBHII")
_KEY_FRAMES = 5  # a key is held for 100 ms, and then released for as long
_END_COPIES = 3  # RFC 4733, 2.5.1.4: the last packet is sent three times
_MAX_HEARD = RATE_HZ * 4 * 3_600  # then it listens no more; a PBX ends calls earlier
_MAX_GAP_SAMPLES = RATE_HZ // 10  # a pause in what is received becomes silence of its length


class Audio(asyncio.DatagramProtocol):
    """One RTP socket on 127.0.0.1; `heard` is µ-law from the first packet on."""

    def __init__(self, clock_s: Callable[[], float]) -> None:
        self.heard = bytearray()
        self._clock_s = clock_s
        self._first_s: float | None = None
        self._transport: asyncio.DatagramTransport | None = None
        self._peer: tuple[str, int] | None = None
        self._stream = secrets.randbits(32)
        self._sequence = secrets.randbits(15)
        self._timestamp = 0
        self._keys: list[bytes] = []  # payloads of events, one for each frame
        self._sound: list[bytes] = []  # frames of µ-law that are not sent yet
        self._sender: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls) -> tuple["Audio", int]:
        """Return it with its port."""
        loop = asyncio.get_running_loop()
        transport, audio = await loop.create_datagram_endpoint(
            lambda: cls(loop.time), local_addr=("127.0.0.1", 0)
        )
        return audio, transport.get_extra_info("sockname")[1]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, _addr: object) -> None:
        if len(data) <= _HEADER.size or data[1] & 0x7F != _ULAW_TYPE:
            return
        if len(self.heard) >= _MAX_HEARD:
            return
        now_s = self._clock_s()
        self._first_s = now_s if self._first_s is None else self._first_s
        due = int((now_s - self._first_s) * RATE_HZ)
        if due - len(self.heard) > _MAX_GAP_SAMPLES:
            self.heard += bytes([SILENCE]) * (due - len(self.heard))
        self.heard += data[_HEADER.size :]

    def speak_to(self, peer: tuple[str, int] | None) -> None:
        """Send to this address from now on."""
        self._peer = peer or self._peer
        if self._sender is None and self._peer is not None:
            self._sender = asyncio.get_running_loop().create_task(self._send())

    async def press(self, key: str) -> None:
        """Press and release a key."""
        code = KEYS.index(key.upper())
        for number in range(1, _KEY_FRAMES + 1):
            self._keys.append(_event(code, number * _FRAME_SAMPLES, is_end=False))
        length = (_KEY_FRAMES + 1) * _FRAME_SAMPLES
        self._keys += [_event(code, length, is_end=True)] * _END_COPIES
        await asyncio.sleep((2 * _KEY_FRAMES + _END_COPIES) * _FRAME_S)

    async def play(self, codes: bytes) -> None:
        """Send sound, and return at its end."""
        parts = [codes[at : at + _FRAME_SAMPLES] for at in range(0, len(codes), _FRAME_SAMPLES)]
        self._sound += [each.ljust(_FRAME_SAMPLES, bytes([SILENCE])) for each in parts]
        await asyncio.sleep(len(parts) * _FRAME_S)

    def close(self) -> None:
        if self._sender is not None:
            self._sender.cancel()
        if self._transport is not None:
            self._transport.close()

    async def _send(self) -> None:
        loop = asyncio.get_running_loop()
        due_s, key_began = loop.time(), 0
        is_pressing = False
        while True:
            if self._keys:
                key_began = key_began if is_pressing else self._timestamp
                marker = 0 if is_pressing else 0x80
                self._write(EVENTS_TYPE | marker, key_began, self._keys.pop(0))
                is_pressing = bool(self._keys)
            else:
                frame = self._sound.pop(0) if self._sound else _FRAME
                self._write(_ULAW_TYPE, self._timestamp, frame)
            self._timestamp += _FRAME_SAMPLES
            due_s += _FRAME_S
            await asyncio.sleep(max(0, due_s - loop.time()))

    def _write(self, kind: int, timestamp: int, payload: bytes) -> None:
        self._sequence = (self._sequence + 1) & 0xFFFF
        head = _HEADER.pack(0x80, kind, self._sequence, timestamp & 0xFFFFFFFF, self._stream)
        if self._transport is not None:
            self._transport.sendto(head + payload, self._peer)


def _event(code: int, samples: int, *, is_end: bool) -> bytes:
    """Return the payload of an event (RFC 4733, 2.3): key, end bit and volume, duration so far."""
    return struct.pack("!BBH", code, (0x80 if is_end else 0) | 10, samples)
