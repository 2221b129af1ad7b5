"""SimClipCache: audio whose URL encodes its length and its fault.

`https://audio/{length_ms}/{delay_ms}/{ok|bad|lost}`: bad cannot be fetched; lost is fetched, but
the PBX cannot play it. A text for TTS is the same without `https://audio/`.
"""

from collections.abc import Iterable

from engine.media.clip import LEAD_IN_MS, MediaError
from engine.media.clip_cache import ClipCache
from tests.harness.sim.clock import SimClock
from tests.harness.sim.loop import SimLoop
from wire.media import Audio, Clip, Source, Tone


class SimClipCache(ClipCache):
    """The clip cache of one engine."""

    def __init__(self, clock: SimClock, loop: SimLoop, cached_media: dict[Source, Clip]) -> None:
        self._clock = clock
        self._loop = loop
        self._cached_media = cached_media  # on disk: survives the engine

    def cached(self, account: str, source: Source) -> Clip | None:
        """Return a clip that is cached, for any account."""
        del account
        return self._cached_media.get(source)

    def is_silent(self, account: str, source: Source) -> bool:
        """Return that it is heard."""
        del account, source
        return False

    async def fetch(self, account: str, source: Source) -> Clip:
        """Return a clip after its delay; raises MediaError."""
        del account
        length_ms, delay_ms, kind = parts(source)
        await self._loop.sleep(delay_ms)
        if kind == "bad":
            raise MediaError("unreachable", "sim")
        return self._cached_media.setdefault(source, Clip(f"{kind}-{length_ms}", length_ms))

    def release(self, call_id: str) -> None:
        """Go on: what is fetched for no call does no harm here."""

    def prefetch(self, account: str, sources: Iterable[Source], call_id: str) -> None:
        """Fetch clips in the background."""
        del account, call_id
        for source in sources:
            length_ms, delay_ms, kind = parts(source)
            if kind != "bad" and source not in self._cached_media:
                clip = Clip(f"{kind}-{length_ms}", length_ms)
                self._clock.after(delay_ms, self._cached_media.setdefault, self._loop, source, clip)


def parts(source: Source) -> tuple[int, int, str]:
    """Parse a source's length, delay and kind."""
    if isinstance(source, Tone):
        return source.duration_ms, 0, "ok"
    text = source.url if isinstance(source, Audio) else source.text
    length_ms, delay_ms, kind = text.rsplit("/", 3)[-3:]
    return int(length_ms.rpartition(" ")[2]), int(delay_ms), kind


def length_ms(media: str) -> int | None:
    """Return how long the PBX plays `sound:…/{kind}-{length}.wav`; None when it cannot.

    Several clips are one file: `{kind}-{length}-{kind}-{length}.wav`.
    """
    name = media.rpartition("/")[2].removesuffix(".wav")
    *words, last = name.removesuffix("-lead-in").split("-")
    kinds, lengths = words[::2], (*words[1::2], last)
    lead_in_ms = LEAD_IN_MS if name.endswith("-lead-in") else 0
    return None if "lost" in kinds else sum(map(int, lengths)) + lead_in_ms
