"""The RTP side of a phone: sends a tone and digits, and keeps what it receives."""

import asyncio
import socket
import struct
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress

import numpy as np
from msgspec import Struct

from tests.harness.monotonic import now_ms
from tests.harness.phones.audio import FRAME_MS, FRAME_SAMPLES, RATE_HZ, Frame, Samples, tone
from tests.harness.phones.g711 import ULAW, Codec
from tests.harness.until import MAX_WAIT_S, until

DIGITS = 101  # the payload type that the scenarios' SDP names
# A phone with nothing to say sends this much silence first, as real ones do. Otherwise Asterisk
# sends the audio to a stranger whose packets reach its port: to the phone of the previous call.
INTRODUCTION_MS = 400
QUIET = np.zeros(FRAME_SAMPLES, np.int16)
KEYS = "0123456789*#ABCD"
SO_TIMESTAMPNS = 35  # Linux: the kernel timestamps packets, so a late reader does not matter
DATED = struct.Struct("@qq")  # seconds and nanoseconds
RECEIVER_REPORT = 201
REPORT_INTERVAL_S = 0.5
_LOW_HZ, _HIGH_HZ = (697, 770, 852, 941), (1209, 1336, 1477, 1633)  # ITU-T Q.23
DTMF_HZ = {
    key: (low, high)
    for low, row in zip(_LOW_HZ, ("123A", "456B", "789C", "*0#D"), strict=True)
    for key, high in zip(row, _HIGH_HZ, strict=True)
}
END_COPIES = 3  # RFC 4733, 2.5.1.4: the last packet is sent three times


class Press(Struct, frozen=True):
    """A key press, in monotonic milliseconds."""

    key: str
    down_ms: float
    up_ms: float


class Spoken(Struct, frozen=True):
    """When the first and the last packet of speech were sent, in monotonic milliseconds."""

    start_ms: float
    end_ms: float


class RtpLine:
    """One RTP socket on 127.0.0.1; `peer` is the remote address once it is known.

    An echoing line sends back what it receives, of any codec.
    """

    def __init__(self, tone_hz: int, codec: Codec = ULAW, *, echoes: bool = False) -> None:
        self.presses_in_band = False  # as tones, for calls without telephone-event
        self._codec = codec
        self._echoes = echoes
        self.reports_sent = 0
        self._reporter: asyncio.Task[None] | None = None
        self.frames: list[Frame] = []
        self.on_frame: Callable[[Frame], None] = _ignore
        self.peer: tuple[str, int] | None = None
        self.voice_ms: int | None = None  # length of the tone; then it sends silence
        self._speech = tone(tone_hz) if tone_hz else None
        # Streams begin at different numbers (RFC 3550); these are the higher, the higher the tone.
        self._sequence = tone_hz * 47 & 0xFFFF
        self._timestamp = 0
        self._pending: deque[Samples] = deque()  # speech that is sent instead of the tone
        self._said_ms: list[float] = []  # when its packets were sent
        self._is_pressing = False
        self._socket: socket.socket | None = None
        self._sender: asyncio.Task[None] | None = None
        self._has_stopped = False

    async def open(self) -> int:
        """Bind a free port and return it."""
        opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        opened.setblocking(False)
        opened.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        opened.bind(("127.0.0.1", 0))
        asyncio.get_running_loop().add_reader(opened, self._read, opened)
        self._socket = opened
        port: int = opened.getsockname()[1]
        return port

    def speak_to(self, port: int) -> None:
        """Send to this port from now on, unless it has stopped."""
        self.peer = ("127.0.0.1", port)
        if self._sender is None and not self._has_stopped:
            self._sender = asyncio.get_running_loop().create_task(self._send_voice())

    def leave(self) -> None:
        """Send nothing more: the call has ended, and the port may be that of another one.

        Asterisk would send that one's audio here, as long as its own phone is silent.
        """
        self.peer = None

    @property
    def spoken_ms(self) -> int:
        """Return for how long it has sent audio."""
        return self._timestamp * FRAME_MS // FRAME_SAMPLES

    def send_silence(self) -> None:
        """Send silence from now on."""
        self._speech = QUIET

    def feed(self, samples: Samples) -> None:
        """Send speech instead of the tone, after what is still to be sent."""
        padded = np.pad(samples, (0, -len(samples) % FRAME_SAMPLES))
        self._pending.extend(padded.reshape(-1, FRAME_SAMPLES))

    async def say(self, samples: Samples) -> Spoken:
        """Send speech instead of the tone, and wait until all of it is sent."""
        before = len(self._said_ms)
        self.feed(samples)
        timeout_s = len(samples) / RATE_HZ + MAX_WAIT_S
        await until(lambda: not self._pending, timeout_s=timeout_s, what="speech to be sent")
        return Spoken(self._said_ms[before], self._said_ms[-1])

    def stop_sending(self) -> None:
        """Send no more audio, also if SIPp reports an answer after that, or repeats one."""
        self._has_stopped = True
        if self._sender is not None:
            self._sender.cancel()
            self._sender = None

    def send_reports(self) -> None:
        """Send RTCP receiver reports (RFC 3550, 6.4.2) from now on."""
        self._reporter = asyncio.get_running_loop().create_task(self._send_reports())

    def close(self) -> None:
        self.stop_sending()
        if self._reporter is not None:
            self._reporter.cancel()
            self._reporter = None
        if self._socket is not None:
            asyncio.get_running_loop().remove_reader(self._socket)
            self._socket.close()
            self._socket = None

    async def press(
        self, keys: str, hold_ms: int, gap_ms: int, pressed: Callable[[Press], None]
    ) -> None:
        """Press keys, each held for `hold_ms`, with `gap_ms` between two keys."""
        self._is_pressing = True
        try:
            for index, key in enumerate(keys):
                if index:
                    await asyncio.sleep(gap_ms / 1000)  # as a person does
                pressed(await self._press(key, hold_ms))
        finally:
            self._is_pressing = False

    def _read(self, opened: socket.socket) -> None:
        """Keep received frames with their arrival times."""
        later_ms = (time.time_ns() - time.monotonic_ns()) / 1e6  # the kernel stamps wall time
        while True:
            try:
                data, dates, _, _ = opened.recvmsg(2048, socket.CMSG_SPACE(DATED.size))
            except BlockingIOError:
                return
            except ConnectionError:  # the peer has closed its socket
                continue
            _, kind, sequence, timestamp, stream = struct.unpack_from("!BBHII", data)
            if self._echoes:
                self._send(kind, data[12:], timestamp)
            if kind & 0x7F == self._codec.payload_type:
                s, ns = DATED.unpack(dates[0][2])
                at_ms = s * 1000 + ns / 1e6 - later_ms
                samples = self._codec.decode(data[12:])
                frame = Frame(at_ms, stream, sequence, timestamp, samples)
                self.frames.append(frame)
                self.on_frame(frame)

    async def _send_voice(self) -> None:
        due_s = asyncio.get_running_loop().time()
        spoken_ms = 0
        while True:
            if self._pending and not self._is_pressing:
                self._send_voice_frame(self._pending.popleft())
                self._said_ms.append(now_ms())
            elif self._speech is not None and not self._is_pressing:
                is_silent = self.voice_ms is not None and spoken_ms >= self.voice_ms
                self._send_voice_frame(QUIET if is_silent else self._speech)
            elif self._speech is None and spoken_ms < INTRODUCTION_MS:
                self._send_voice_frame(QUIET)
            spoken_ms += FRAME_MS
            self._timestamp += FRAME_SAMPLES
            due_s += FRAME_MS / 1000
            await _reach(due_s)

    async def _send_reports(self) -> None:
        report = struct.pack("!BBHI", 0x80, RECEIVER_REPORT, 1, id(self) & 0xFFFFFFFF)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as reports:
            while True:
                if self.peer is not None:
                    host, port = self.peer
                    reports.sendto(report, (host, port + 1))
                    self.reports_sent += 1
                await asyncio.sleep(REPORT_INTERVAL_S)  # as a phone does

    async def _press_in_band(self, key: str, hold_ms: int) -> Press:
        loop = asyncio.get_running_loop()
        down_s = loop.time()
        low, high = DTMF_HZ[key]
        both = (tone(low, hold_ms) // 2) + (tone(high, hold_ms) // 2)
        for index in range(hold_ms // FRAME_MS):
            frame = both[index * FRAME_SAMPLES : (index + 1) * FRAME_SAMPLES]
            self._send_voice_frame(frame)
            self._timestamp += FRAME_SAMPLES
            await _reach(down_s + (index + 1) * FRAME_MS / 1000)
        return Press(key, down_s * 1000, loop.time() * 1000)

    async def _press(self, key: str, hold_ms: int) -> Press:
        if self.presses_in_band:
            return await self._press_in_band(key, hold_ms)
        loop = asyncio.get_running_loop()
        down_s = loop.time()
        started = self._timestamp
        for passed_ms in range(FRAME_MS, hold_ms, FRAME_MS):
            self._send_key(key, started, passed_ms, is_end=False, is_first=passed_ms == FRAME_MS)
            await _reach(down_s + passed_ms / 1000)
        await _reach(down_s + hold_ms / 1000)
        up_s = loop.time()
        for _ in range(END_COPIES):
            self._send_key(key, started, hold_ms, is_end=True, is_first=False)
        self._timestamp = max(self._timestamp, started + FRAME_SAMPLES)
        return Press(key, down_s * 1000, up_s * 1000)

    def _send_key(
        self, key: str, started: int, passed_ms: int, *, is_end: bool, is_first: bool
    ) -> None:
        """Send an event packet (RFC 4733, 2.3): the key, end bit and volume, duration so far."""
        flags = (0x80 if is_end else 0) | 10
        payload = struct.pack("!BBH", KEYS.index(key), flags, passed_ms * 8)
        self._send(DIGITS | (0x80 if is_first else 0), payload, started)

    def _send_voice_frame(self, frame: Samples) -> None:
        self._send(self._codec.payload_type, self._codec.encode(frame), self._timestamp)

    def _send(self, kind: int, payload: bytes, timestamp: int) -> None:
        if self._socket is None or self.peer is None:
            return
        self._sequence = (self._sequence + 1) & 0xFFFF
        stream = id(self) & 0xFFFFFFFF
        head = struct.pack("!BBHII", 0x80, kind, self._sequence, timestamp & 0xFFFFFFFF, stream)
        with suppress(BlockingIOError, ConnectionError):  # lost like a packet
            self._socket.sendto(head + payload, self.peer)


def _ignore(_frame: Frame) -> None:
    """Only keep it."""


async def _reach(due_s: float) -> None:
    """Wait for a time of the event loop."""
    now_s = asyncio.get_running_loop().time()
    await asyncio.sleep(max(0, due_s - now_s))  # a real PBX expects audio in real time
