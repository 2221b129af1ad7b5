"""The media test scene: an origin server on loopback, and helpers that read clips."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from ipaddress import ip_network

import numpy as np
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from base.address_guard import guarded_session
from engine.media.clip import Clip, MediaError
from engine.media.clip_cache import ClipCache
from tests.harness.media.sounds import MediaScene, Origin, samples
from wire.media import Audio, Speech


@asynccontextmanager
async def media_scene() -> AsyncIterator[MediaScene]:
    """Start an origin server on loopback, which the guard allows."""
    async with AsyncExitStack() as stack:
        origin = Origin()
        app = web.Application()
        app.router.add_get("/{name}", origin.respond)
        server = await stack.enter_async_context(TestServer(app))
        session = guarded_session((ip_network("127.0.0.0/8"),))
        yield MediaScene(origin, server, await stack.enter_async_context(session))


async def read_samples(cache: ClipCache, clip: Clip) -> np.ndarray:
    """Read a clip's samples."""
    path = cache.path(clip.key)
    assert path is not None
    return await asyncio.to_thread(samples, path)


async def failure(cache: ClipCache, source: Audio | Speech) -> MediaError:
    """Fetch a source that must fail."""
    with pytest.raises(MediaError) as caught:
        await cache.fetch("acme", source)
    return caught.value
