"""A stage for media: an origin on loopback, and the libraries that fetch from it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from ipaddress import ip_network

import numpy as np
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from engine.media.clip import Clip, MediaError
from engine.media.clip_cache import ClipCache
from engine.webhooks.address_guard import guarded_session
from tests.contract.media.sounds import Origin, Stage, samples
from wire.media import Audio, Speech


@asynccontextmanager
async def staged() -> AsyncIterator[Stage]:
    """Start an origin on loopback, which the guard lets through."""
    async with AsyncExitStack() as stack:
        origin = Origin()
        app = web.Application()
        app.router.add_get("/{name}", origin.answer)
        server = await stack.enter_async_context(TestServer(app))
        session = guarded_session((ip_network("127.0.0.0/8"),))
        yield Stage(origin, server, await stack.enter_async_context(session))


async def heard(library: ClipCache, clip: Clip) -> np.ndarray:
    """Read what a clip sounds like."""
    path = library.path(clip.key)
    assert path is not None
    return await asyncio.to_thread(samples, path)


async def failure(library: ClipCache, source: Audio | Speech) -> MediaError:
    """Fetch what must fail."""
    with pytest.raises(MediaError) as caught:
        await library.fetch(source)
    return caught.value
