"""Metrics of clip making."""

import pytest

from engine.media.clip import MadeClip, MediaError, OwnedSource
from engine.media.clip_maker import MeteredClipMaker
from engine.observe.metrics import Metrics
from wire.media import Audio, Speech

AUDIO = OwnedSource("acme", Audio("https://x.example/a.wav"))


class Scripted:
    """Returns an unchanged clip, or fails."""

    def __init__(self, failure: MediaError | None = None) -> None:
        self._failure = failure
        self.is_closed = False

    async def make(self, owned: OwnedSource, etag: str, now_ms: int) -> MadeClip:
        assert owned.source
        assert not etag
        assert now_ms
        if self._failure is not None:
            raise self._failure
        return MadeClip(None, None)

    async def close(self) -> None:
        """Note it."""
        self.is_closed = True


async def test_clips_are_counted_by_kind() -> None:
    """Fetched audio and spoken text take different times, and fail for different reasons."""
    meter, maker = Metrics(), Scripted()
    metered = MeteredClipMaker(maker, meter)
    await metered.make(AUDIO, "", 1)
    await metered.make(OwnedSource("acme", Speech("Hello.")), "", 1)
    assert meter.external.media_duration.series("audio", "made").count == 1
    assert meter.external.media_duration.series("speech", "made").count == 1
    assert meter.external.media_failures.total == 0
    await metered.close()
    assert maker.is_closed


async def test_a_failure_is_counted_by_why() -> None:
    """The reason is the label; the failure is passed on to the caller."""
    meter = Metrics()
    metered = MeteredClipMaker(Scripted(MediaError("not_found", "404")), meter)
    with pytest.raises(MediaError):
        await metered.make(AUDIO, "", 1)
    assert dict(meter.external.media_failures) == {("audio", "not_found"): 1}
    assert meter.external.media_duration.series("audio", "failed").count == 1
