"""Speech with real providers: the neural voice, and espeak for other texts."""

from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from engine.media.clip import MediaLimits
from engine.media.tts import Hibari, find_espeak
from tests.harness.media.scene import failure, media_scene, read_samples
from tests.harness.media.sounds import LIMITS, MediaScene
from wire.media import Speech


@pytest.fixture
async def scene() -> AsyncIterator[MediaScene]:
    """Start the scene."""
    async with media_scene() as scene:
        yield scene


async def test_spoken(scene: MediaScene, tmp_path: Path) -> None:
    """The neural voice speaks English, espeak speaks other languages and SSML; each text once."""
    espeak = await find_espeak()
    assert espeak is not None
    texts = {
        Speech("Welcome to our service."): (1000, 4000),
        Speech("नमस्ते", language="hi-IN"): (300, 2500),
        Speech('<speak>One<break time="2s"/>two</speak>', ssml=True): (2000, 6000),
        Speech("--help; $(reboot)", voice="espeak"): (300, 6000),
    }
    async with scene.open_cache(tmp_path, Hibari(LIMITS), espeak, limits=MediaLimits()) as cache:
        for speech, (min_ms, max_ms) in texts.items():
            clip = await cache.fetch("acme", speech)
            assert min_ms < clip.duration_ms < max_ms, speech
            assert np.abs(await read_samples(cache, clip)).max() > 2000, speech
            assert cache.cached("acme", speech) == clip
        assert (await failure(cache, Speech("a", language="tlh"))).reason == "unknown_language"
        assert (await failure(cache, Speech("<p>", ssml=True))).reason == "speech_failed"


async def test_substitute_speaks(scene: MediaScene, tmp_path: Path) -> None:
    """If the neural voice fails, espeak speaks the text for the time being."""
    espeak = await find_espeak()
    assert espeak is not None
    starved = Hibari(MediaLimits(worker_memory_bytes=1 << 20))
    async with scene.open_cache(tmp_path, starved, espeak) as cache:
        clip = await cache.fetch("acme", Speech("Hello"))
        assert clip.duration_ms > 300


async def test_no_espeak() -> None:
    """Without the program there is no espeak provider."""
    assert await find_espeak("no-such-program") is None


async def test_a_slow_start_is_no_slow_text() -> None:
    """A new worker loads its voice first, which may take longer than a text."""
    voice = Hibari(MediaLimits(job_s=1, workers=1))  # the start takes nearly two
    try:
        assert (await voice.synthesize("acme", Speech("Hello"))).startswith(b"RIFF")
    finally:
        await voice.close()
