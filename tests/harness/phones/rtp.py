"""The media half of a phone: speaks its tone, presses keys, and keeps all that it hears."""

import asyncio
import socket
import struct
import time
from collections.abc import Callable
from contextlib import suppress

import numpy as np
from msgspec import Struct

from tests.harness.phones.audio import FRAME_MS, FRAME_SAMPLES, Frame, from_ulaw, to_ulaw, tone

ULAW = 0
DIGITS = 101  # the payload type that the scenarios' SDP names
QUIET = to_ulaw(np.zeros(FRAME_SAMPLES, np.int16))
KEYS = "0123456789*#ABCD"
SO_TIMESTAMPNS = 35  # Linux: the kernel dates what arrives, however late this process reads it
DATED = struct.Struct("@qq")  # seconds and nanoseconds
END_COPIES = 3  # RFC 4733, 2.5.1.4: the last packet is sent three times


class Press(Struct, frozen=True):
    """A key that went down and up, on the monotonic clock."""

    key: str
    down_ms: float
    up_ms: float


class RtpLine:
    """One RTP socket on 127.0.0.1; `peer` is where to speak to once it is known."""

    def __init__(self, tone_hz: int) -> None:
        self.frames: list[Frame] = []
        self.peer: tuple[str, int] | None = None
        self.voice_ms: int | None = None  # how long its tone lasts; then it sends silence
        self._speech = to_ulaw(tone(tone_hz)) if tone_hz else None
        self._sequence = 0
        self._timestamp = 0
        self._is_pressing = False
        self._socket: socket.socket | None = None
        self._speaker: asyncio.Task[None] | None = None

    async def open(self) -> int:
        """Listen on a free port and return it."""
        opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        opened.setblocking(False)
        opened.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        opened.bind(("127.0.0.1", 0))
        asyncio.get_running_loop().add_reader(opened, self._read, opened)
        self._socket = opened
        port: int = opened.getsockname()[1]
        return port

    def speak_to(self, port: int) -> None:
        """Begin to speak, or go on to another port."""
        self.peer = ("127.0.0.1", port)
        if self._speaker is None:
            self._speaker = asyncio.get_running_loop().create_task(self._send_voice())

    @property
    def spoken_ms(self) -> int:
        """Tell for how long it has spoken."""
        return self._timestamp * FRAME_MS // FRAME_SAMPLES

    def send_silence(self) -> None:
        """Send silence from now on."""
        self._speech = to_ulaw(np.zeros(FRAME_SAMPLES, np.int16))

    def stop_sending(self) -> None:
        """Say nothing more."""
        if self._speaker is not None:
            self._speaker.cancel()
            self._speaker = None

    def close(self) -> None:
        """Hang up the socket."""
        self.stop_sending()
        if self._socket is not None:
            asyncio.get_running_loop().remove_reader(self._socket)
            self._socket.close()
            self._socket = None

    async def press(
        self, keys: str, hold_ms: int, gap_ms: int, pressed: Callable[[Press], None]
    ) -> None:
        """Press keys, each held so long, with so much between one's rise and the next's fall."""
        self._is_pressing = True
        try:
            for index, key in enumerate(keys):
                if index:
                    await asyncio.sleep(gap_ms / 1000)
                pressed(await self._press(key, hold_ms))
        finally:
            self._is_pressing = False

    def _read(self, opened: socket.socket) -> None:
        """Keep what is heard, with the time of its arrival."""
        later_ms = (time.time_ns() - time.monotonic_ns()) / 1e6
        while True:
            try:
                data, dates, _, _ = opened.recvmsg(2048, socket.CMSG_SPACE(DATED.size))
            except BlockingIOError:
                return
            except ConnectionError:  # nobody listens there any more
                continue
            _, kind, _, timestamp, stream = struct.unpack_from("!BBHII", data)
            if kind & 0x7F == ULAW:
                s, ns = DATED.unpack(dates[0][2])
                at_ms = s * 1000 + ns / 1e6 - later_ms
                self.frames.append(Frame(at_ms, stream, timestamp, from_ulaw(data[12:])))

    async def _send_voice(self) -> None:
        loop = asyncio.get_running_loop()
        due_s = loop.time()
        spoken_ms = 0
        while True:
            if self._speech is not None and not self._is_pressing:
                is_over = self.voice_ms is not None and spoken_ms >= self.voice_ms
                self._send(ULAW, QUIET if is_over else self._speech, self._timestamp)
            spoken_ms += FRAME_MS
            self._timestamp += FRAME_SAMPLES
            due_s += FRAME_MS / 1000
            await asyncio.sleep(max(0, due_s - loop.time()))

    async def _press(self, key: str, hold_ms: int) -> Press:
        loop = asyncio.get_running_loop()
        down_s = loop.time()
        began = self._timestamp
        for passed_ms in range(FRAME_MS, hold_ms, FRAME_MS):
            self._send_key(key, began, passed_ms, is_end=False, is_first=passed_ms == FRAME_MS)
            await asyncio.sleep(max(0, down_s + passed_ms / 1000 - loop.time()))
        await asyncio.sleep(max(0, down_s + hold_ms / 1000 - loop.time()))
        up_s = loop.time()
        for _ in range(END_COPIES):
            self._send_key(key, began, hold_ms, is_end=True, is_first=False)
        self._timestamp = max(self._timestamp, began + FRAME_SAMPLES)
        return Press(key, down_s * 1000, up_s * 1000)

    def _send_key(
        self, key: str, began: int, passed_ms: int, *, is_end: bool, is_first: bool
    ) -> None:
        """Send an event packet (RFC 4733, 2.3): the key, end bit and volume, duration so far."""
        flags = (0x80 if is_end else 0) | 10
        payload = struct.pack("!BBH", KEYS.index(key), flags, passed_ms * 8)
        self._send(DIGITS | (0x80 if is_first else 0), payload, began)

    def _send(self, kind: int, payload: bytes, timestamp: int) -> None:
        if self._socket is None or self.peer is None:
            return
        self._sequence = (self._sequence + 1) & 0xFFFF
        stream = id(self) & 0xFFFFFFFF
        head = struct.pack("!BBHII", 0x80, kind, self._sequence, timestamp & 0xFFFFFFFF, stream)
        with suppress(BlockingIOError, ConnectionError):  # lost on the wire
            self._socket.sendto(head + payload, self.peer)
