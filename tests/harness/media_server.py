"""A customer's sounds: tones of exact length, and everything that can be wrong with an address."""

import asyncio
from typing import Self

from aiohttp import web

from tests.harness.audio import tone, wav

HUGE_BYTES = 40_000_000
CHUNK = b"\0" * 65_536


class MediaServer:
    """Serves on a free port of 127.0.0.1.

    `tone(600, 1000)` is the address of one second of 600 Hz; `/missing`, `/page`, `/elsewhere`,
    `/huge` and `slow_tone` are the ways it can go wrong.
    """

    def __init__(self) -> None:
        self._port = 0
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_get("/tone/{hz}-{length_ms}.wav", _tone)
        app.router.add_get("/slow/{after_ms}/{hz}-{length_ms}.wav", _slow_tone)
        app.router.add_get("/page", _page)
        app.router.add_get("/elsewhere", _elsewhere)
        app.router.add_get("/huge", _huge)
        self._runner = web.AppRunner(
            app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1
        )
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self._port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    def url(self, path: str) -> str:
        """Return a path's address."""
        return f"http://127.0.0.1:{self._port}{path}"

    def tone(self, hz: int, length_ms: int) -> str:
        """Return the address of a tone."""
        return self.url(f"/tone/{hz}-{length_ms}.wav")

    def slow_tone(self, hz: int, length_ms: int, after_ms: int) -> str:
        """Return the address of a tone that is served only after a while."""
        return self.url(f"/slow/{after_ms}/{hz}-{length_ms}.wav")


async def _tone(request: web.Request) -> web.Response:
    sound = tone(int(request.match_info["hz"]), int(request.match_info["length_ms"]))
    return web.Response(body=wav(sound), content_type="audio/wav")


async def _slow_tone(request: web.Request) -> web.Response:
    await asyncio.sleep(int(request.match_info["after_ms"]) / 1000)
    return await _tone(request)


async def _page(_request: web.Request) -> web.Response:
    return web.Response(text="<html>Not found</html>", content_type="text/html")


async def _elsewhere(_request: web.Request) -> web.Response:
    raise web.HTTPFound("http://169.254.169.254/latest/meta-data/")


async def _huge(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "audio/wav"})
    await response.prepare(request)
    await response.write(wav(tone(400, 20)))
    for _ in range(HUGE_BYTES // len(CHUNK)):
        await response.write(CHUNK)
    return response
