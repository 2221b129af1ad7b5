"""A customer's audio server: tones of exact length, and faulty addresses."""

import asyncio
from collections.abc import Iterable

from aiohttp import web

from tests.harness.phones.audio import sweep, tone, wav
from tests.harness.servers.web_server import WebServer

HUGE_BYTES = 40_000_000
CHUNK = b"\0" * 65_536


class MediaServer(WebServer):
    """Serves audio files.

    `tone(600, 1000)` returns the address of one second of 600 Hz. `/missing`, `/page`,
    `/elsewhere`, `/huge` and `slow_tone` are faulty.
    """

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        """Serve tones and faulty answers."""
        return [
            web.get("/tone/{hz}-{length_ms}.wav", _tone),
            web.get("/sweep/{length_ms}.wav", _sweep),
            web.get("/slow/{after_ms}/{hz}-{length_ms}.wav", _slow_tone),
            web.get("/page", _page),
            web.get("/elsewhere", _elsewhere),
            web.get("/huge", _huge),
        ]

    def tone(self, hz: int, length_ms: int) -> str:
        """Return the address of a tone."""
        return self.url(f"/tone/{hz}-{length_ms}.wav")

    def sweep(self, length_ms: int) -> str:
        """Return the address of a tone whose pitch says which moment is heard: `sweep`."""
        return self.url(f"/sweep/{length_ms}.wav")

    def slow_tone(self, hz: int, length_ms: int, after_ms: int) -> str:
        """Return the address of a tone that is served after a delay."""
        return self.url(f"/slow/{after_ms}/{hz}-{length_ms}.wav")


async def _tone(request: web.Request) -> web.Response:
    sound = tone(int(request.match_info["hz"]), int(request.match_info["length_ms"]))
    return web.Response(body=wav(sound), content_type="audio/wav")


async def _sweep(request: web.Request) -> web.Response:
    sound = sweep(int(request.match_info["length_ms"]))
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
