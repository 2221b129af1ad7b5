"""Serves clips to the PBX over HTTP: GET and HEAD /media/{key}.wav, or {key}-lead-in.wav.

A key is its content's digest, so a clip has the same path at every engine, and a PBX that has
cached it needs none of them. An engine without the clip passes it on from one that has it.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
from aiohttp import hdrs, web

from engine.common.tasks import first_found
from engine.media.clip_cache import ClipCache
from engine.media.lead_in import read_with_lead_in
from engine.rpc.peers.client import is_forwarded
from engine.rpc.peers.remote_clips import RemoteClips

_HEADERS = {
    "Content-Type": "audio/wav",
    "Cache-Control": "public, max-age=31536000, immutable",
}
_CHUNK_BYTES = 65_536


def media_routes(cache: ClipCache, remote: RemoteClips) -> list[web.RouteDef]:
    """Return the routes for the engine's HTTP server; a key that no engine has is a 404."""

    async def clip(request: web.Request) -> web.StreamResponse:
        key = request.match_info["key"]
        found: Path | str | None = await _existing(cache, key)
        if found is None:
            # Here, where it may be in the making, and at the other engines.
            searches: list[Awaitable[Path | str | None]] = [cache.wait_for(key)]
            if not is_forwarded(request):
                searches.append(remote.find(request.path))
            found = await first_found(searches)
        if isinstance(found, str):
            return await _pass_on(request, remote, found)
        if found is None:
            raise web.HTTPNotFound
        if request.match_info["lead_in"]:
            body = await asyncio.to_thread(read_with_lead_in, found)
            return web.Response(body=body, headers=_HEADERS)
        return web.FileResponse(found, headers=_HEADERS)

    return [web.get("/media/{key:[0-9a-f]{32}}{lead_in:(-lead-in)?}.wav", clip)]


async def _existing(cache: ClipCache, key: str) -> Path | None:
    path = cache.path(key)
    if path is not None and not await asyncio.to_thread(path.is_file):
        cache.forget(key)
        return None
    return path


async def _pass_on(request: web.Request, remote: RemoteClips, engine: str) -> web.StreamResponse:
    async with _opened(remote, engine, request.path) as found:
        response = web.StreamResponse(headers=_HEADERS)
        response.content_length = found.content_length
        await response.prepare(request)
        if request.method != hdrs.METH_HEAD:
            async for chunk in found.content.iter_chunked(_CHUNK_BYTES):
                await response.write(chunk)
        await response.write_eof()
    return response


@asynccontextmanager
async def _opened(
    remote: RemoteClips, engine: str, path: str
) -> AsyncIterator[aiohttp.ClientResponse]:
    try:
        async with remote.open(engine, path) as response:
            yield response
    except aiohttp.ClientError:
        raise web.HTTPNotFound from None  # it has gone since: the PBX asks again when it plays
