"""The maintenance of the clip cache: it survives errors."""

import asyncio
from pathlib import Path

from aiohttp import ClientSession
from structlog.testing import capture_logs

from engine.media.open import open_clip_cache
from tests.harness.until import until


class Clock:
    """A clock that raises an unexpected error while `fails` is set."""

    fails = False

    def now_ms(self) -> int:
        """Return the time."""
        if self.fails:
            raise ZeroDivisionError
        return 1


async def test_an_unexpected_error_is_logged_and_the_next_run_saves(tmp_path: Path) -> None:
    """After an error, the next change saves the index."""
    clock = Clock()
    async with (
        ClientSession() as session,
        open_clip_cache(tmp_path, lambda _account: session, [], clock.now_ms) as cache,
    ):
        clock.fails = True
        with capture_logs() as logged:
            cache.index_changed.set()
            await until(lambda: bool(logged), what="the log entry", every_s=0.001)
        assert [each["event"] for each in logged] == ["media maintenance failed"]
        clock.fails = False
        cache.index_changed.set()
        index = tmp_path / "index.json"
        await until(lambda: asyncio.to_thread(index.exists), what="the saved index")
