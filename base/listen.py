"""Serves an application of aiohttp at an address."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web


class BindFailed(Exception):
    """A server cannot listen on its host and port."""


@asynccontextmanager
async def listening(
    runner: web.AppRunner, host: str, port: int, tls: ssl.SSLContext | None
) -> AsyncIterator[None]:
    """Serve for as long as the context lasts; raises BindFailed."""
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host, port, ssl_context=tls).start()
        except OSError as error:
            raise BindFailed(f"can't listen at {host}:{port}: {error.strerror}") from error
        yield
    finally:
        await runner.cleanup()
