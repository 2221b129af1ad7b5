"""The making of clips, timed: what was at hand already is not counted."""

from time import perf_counter

from engine.media.clip import Made, MediaFailed
from engine.media.clip_cache import Maker
from engine.observe.metrics import Meter
from wire.media import Audio, Source


class MeteredMaker:
    """A maker whose clips are timed and counted."""

    def __init__(self, maker: Maker, meter: Meter) -> None:
        self._maker = maker
        self._counts = meter.outside

    async def make(self, source: Source, etag: str, now_ms: int) -> Made:
        """Make a clip; raises MediaFailed."""
        kind = "audio" if isinstance(source, Audio) else "speech"
        began_s = perf_counter()
        try:
            made = await self._maker.make(source, etag, now_ms)
        except MediaFailed as failure:
            self._counts.media_faults.of(kind)[failure.reason] += 1
            self._counts.media.of(kind, "failed").observe(perf_counter() - began_s)
            raise
        self._counts.media.of(kind, "made").observe(perf_counter() - began_s)
        return made

    async def close(self) -> None:
        """End what it runs."""
        await self._maker.close()
