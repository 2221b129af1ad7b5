"""Base class of the HTTP servers of tests, on a free port of 127.0.0.1."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Self

from aiohttp import web


class WebServer(ABC):
    """Serves in this process within its context; a restart keeps the port."""

    max_body_bytes = 1_048_576  # of one request

    def __init__(self) -> None:
        self._port = 0
        self._runner: web.AppRunner | None = None

    @abstractmethod
    def routes(self) -> Iterable[web.AbstractRouteDef]:
        """Return the routes."""

    def url(self, path: str = "") -> str:
        """Return the address of a path."""
        return f"http://127.0.0.1:{self._port}{path}"

    async def start(self) -> None:
        app = web.Application(client_max_size=self.max_body_bytes)
        app.add_routes(self.routes())
        self._runner = web.AppRunner(
            app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1
        )
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port).start()
        self._port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()
