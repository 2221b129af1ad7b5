"""Limits the size of a request's head, and the time it may take: uvicorn has neither limit.

A head arrives before authentication; without limits anyone could fill the memory, or hold
connections open for ever.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MAX_HEADER_BYTES = 65_536
HEADER_TIMEOUT_S = 20.0


class HeaderLimits(HttpToolsProtocol):
    """Closes a connection whose next head is too large or incomplete after the timeout."""

    timeout_s = HEADER_TIMEOUT_S
    _pending_bytes = 0  # since the last complete head, or piece of a body
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._start_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        self._clear_deadline()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._pending_bytes += len(data)
        super().data_received(data)
        if self._pending_bytes > MAX_HEADER_BYTES:
            self.transport.close()

    def on_message_begin(self) -> None:
        self._clear_deadline()
        self._start_deadline()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._clear_deadline()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._pending_bytes = 0
        super().on_body(body)

    def _start_deadline(self) -> None:
        self._deadline = self.loop.call_later(self.timeout_s, self.transport.close)

    def _clear_deadline(self) -> None:
        self._pending_bytes = 0
        if self._deadline is not None:
            self._deadline.cancel()
