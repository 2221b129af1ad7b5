"""Serves clips to the PBX over HTTP: GET and HEAD /media/{key}.wav, or {key}-lead-in.wav.

A key is its content's digest, so a clip has the same path at every engine, and a PBX that has
cached it needs none of them. An engine without the clip passes it on from one that has it. Several
clips are one file: {key}-{key}.wav.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
from aiohttp import hdrs, web

from base.tasks import first_found
from engine.media.clip import MAX_JOINED, served_clip
from engine.media.clip_cache import ClipCache
from engine.rpc.peers.client import is_forwarded
from engine.rpc.peers.prompts import RemoteClips

_HEADERS = {
    "Content-Type": "audio/wav",
    "Cache-Control": "public, max-age=31536000, immutable",
}
_CHUNK_BYTES = 65_536
_KEYS = rf"[0-9a-f]{{32}}(?:-[0-9a-f]{{32}}){{0,{MAX_JOINED - 1}}}"


def media_routes(cache: ClipCache, remote: RemoteClips) -> list[web.RouteDef]:
    """Return the routes for the engine's HTTP server; a key that no engine has is a 404."""

    async def clip(request: web.Request) -> web.StreamResponse:
        keys, has_lead_in = request.match_info["keys"].split("-"), request.match_info["lead_in"]
        if len(keys) > 1 or has_lead_in:
            clips = [await _read(await find(request, each), remote, each) for each in keys]
            body = await asyncio.to_thread(served_clip, clips, has_lead_in=bool(has_lead_in))
            return web.Response(body=body, headers=_HEADERS)
        found = await find(request, keys[0])
        if isinstance(found, str):
            return await _pass_on(request, remote, found)
        return web.FileResponse(found, headers=_HEADERS)

    async def find(request: web.Request, key: str) -> Path | str:
        """Return the file of a clip, or the engine that has it."""
        found: Path | str | None = await _existing(cache, key)
        if found is None:
            # Here, where it may be in the making, and at the other engines.
            searches: list[Awaitable[Path | str | None]] = [cache.wait_for(key)]
            if not is_forwarded(request):
                searches.append(remote.find(_path(key)))
            found = await first_found(searches)
        if found is None:
            raise web.HTTPNotFound
        return found

    return [web.get(f"/media/{{keys:{_KEYS}}}{{lead_in:(-lead-in)?}}.wav", clip)]


def _path(key: str) -> str:
    return f"/media/{key}.wav"


async def _read(found: Path | str, remote: RemoteClips, key: str) -> bytes:
    if isinstance(found, Path):
        return await asyncio.to_thread(found.read_bytes)
    async with _opened(remote, found, _path(key)) as response:
        return await response.read()


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
