"""The clips over HTTP, for the PBX: GET and HEAD /media/{key}.wav."""

import asyncio

from aiohttp import web

from engine.media.clip_cache import ClipCache

_HEADERS = {
    "Content-Type": "audio/wav",
    # A key is its content's digest: what it names never changes.
    "Cache-Control": "public, max-age=31536000, immutable",
}


def media_routes(library: ClipCache) -> list[web.RouteDef]:
    """Routes for the engine's HTTP server; anything but a known clip's key is a 404."""

    async def clip(request: web.Request) -> web.StreamResponse:
        key = request.match_info["key"]
        path = await library.coming(key)
        if path is None:
            raise web.HTTPNotFound
        if not await asyncio.to_thread(path.is_file):
            library.forget(key)
            raise web.HTTPNotFound
        return web.FileResponse(path, headers=_HEADERS)

    return [web.get("/media/{key:[0-9a-f]{32}}.wav", clip)]
