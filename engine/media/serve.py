"""Serves clips to the PBX over HTTP: GET and HEAD /media/{key}.wav."""

import asyncio

from aiohttp import web

from engine.media.clip_cache import ClipCache

_HEADERS = {
    "Content-Type": "audio/wav",
    # A key is its content's digest, so its file never changes.
    "Cache-Control": "public, max-age=31536000, immutable",
}


def media_routes(cache: ClipCache) -> list[web.RouteDef]:
    """Return the routes for the engine's HTTP server; an unknown key is a 404."""

    async def clip(request: web.Request) -> web.StreamResponse:
        key = request.match_info["key"]
        path = await cache.wait_for(key)
        if path is None:
            raise web.HTTPNotFound
        if not await asyncio.to_thread(path.is_file):
            cache.forget(key)
            raise web.HTTPNotFound
        return web.FileResponse(path, headers=_HEADERS)

    return [web.get("/media/{key:[0-9a-f]{32}}.wav", clip)]
