"""Closes a connection whose client does not read its responses."""

import asyncio
import struct
from fcntl import ioctl
from termios import TIOCOUTQ  # the bytes that a socket has not delivered (man 7 tcp, SIOCOUTQ)
from typing import NamedTuple

# As long as a reader of live events may take for one chunk (api/http/event_stream.py).
WRITE_TIMEOUT_S = 30.0


class _Progress(NamedTuple):
    responses: int
    pending_bytes: int


class WriteDeadline:
    """Aborts a transport that delivers nothing of what it holds during a period of the timeout."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, transport: asyncio.Transport, timeout_s: float
    ) -> None:
        self._loop = loop
        self._transport = transport
        self._timeout_s = timeout_s
        self._timer: asyncio.TimerHandle | None = None
        self._last = _Progress(0, 0)
        self.responses = 0  # that have been written completely; each may add to what is held

    def start(self) -> None:
        """Begin to watch, unless it does."""
        if self._timer is None:
            self._start_period()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _start_period(self) -> None:
        self._last = self._progress()
        self._timer = self._loop.call_later(self._timeout_s, self._check)

    def _check(self) -> None:
        self._timer = None
        if not self._transport.get_write_buffer_size():
            return
        now = self._progress()
        if now.responses == self._last.responses and now.pending_bytes >= self._last.pending_bytes:
            self._transport.abort()
        else:
            self._start_period()

    def _progress(self) -> _Progress:
        """Return the state; without the socket's bytes a slow reader would seem to read nothing."""
        sent = ioctl(self._transport.get_extra_info("socket").fileno(), TIOCOUTQ, bytes(4))
        in_socket = struct.unpack("i", sent)[0]
        return _Progress(self.responses, self._transport.get_write_buffer_size() + in_socket)
