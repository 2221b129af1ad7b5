"""Handshakes of websockets without a network, and their options."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, cast

from picows import WSListener, WSTransport

from tests.unit.streams.recording_connection import RecordingConnection


class ScriptedHandshake:
    """Accepts, fails, does not answer (`hangs`), or is closed without an answer (`closes`)."""

    def __init__(
        self, *, error: Exception | None = None, hangs: bool = False, closes: bool = False
    ) -> None:
        self.connection = RecordingConnection()
        self.url = ""
        self.options: dict[str, Any] = {}
        self.opens: Callable[[], Awaitable[None]] | None = None
        self._error = error
        self._hangs = hangs
        self.closes = closes

    async def connect(self, listener: Callable[[], WSListener], url: str, **options: Any) -> None:
        """Do what picows.ws_connect does."""
        self.url, self.options = url, options
        if self.opens is not None:
            await self.opens()
        if self._error is not None:
            raise self._error
        if self._hangs:
            await asyncio.Event().wait()
        if not self.closes:
            listener().on_ws_connected(cast("WSTransport", self.connection))
