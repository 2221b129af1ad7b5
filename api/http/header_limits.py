"""How large a request's head may be, and how long it may take: uvicorn asks for neither.

Whoever sends a head has shown no key yet; without a limit anybody could fill the memory, or hold
connections for ever.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MAX_HEADER_BYTES = 65_536
HEADER_TIMEOUT_S = 20.0


class HeaderLimits(HttpToolsProtocol):
    """Closes a connection whose next head is too large, or does not come to its end in time."""

    timeout_s = HEADER_TIMEOUT_S
    _pending_bytes = 0  # that came since the last whole head, or piece of a body
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """See asyncio.Protocol."""
        super().connection_made(transport)
        self._start_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio.Protocol."""
        self._clear_deadline()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """See asyncio.Protocol."""
        self._pending_bytes += len(data)
        super().data_received(data)
        if self._pending_bytes > MAX_HEADER_BYTES:
            self.transport.close()

    def on_message_begin(self) -> None:
        """See httptools."""
        self._clear_deadline()
        self._start_deadline()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """See httptools."""
        self._clear_deadline()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """See httptools."""
        self._pending_bytes = 0
        super().on_body(body)

    def _start_deadline(self) -> None:
        self._deadline = self.loop.call_later(self.timeout_s, self.transport.close)

    def _clear_deadline(self) -> None:
        self._pending_bytes = 0
        if self._deadline is not None:
            self._deadline.cancel()
