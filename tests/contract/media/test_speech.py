"""Speech for real: the neural voice, espeak for what that does not speak, each text once."""

from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from engine.media.clip import MediaLimits
from engine.media.tts.espeak import find_espeak
from engine.media.tts.hibari import Hibari
from tests.contract.media.sounds import LIMITS, Stage
from tests.contract.media.stage import failure, heard, staged
from wire.media import Speech


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    """Give a stage to a test."""
    async with staged() as stage:
        yield stage


async def test_spoken(stage: Stage, tmp_path: Path) -> None:
    """English is spoken by the neural voice, other languages and SSML by espeak, each text once."""
    espeak = await find_espeak()
    assert espeak is not None
    texts = {
        Speech("Welcome to our service."): (1000, 4000),
        Speech("नमस्ते", language="hi-IN"): (300, 2500),
        Speech('<speak>One<break time="2s"/>two</speak>', ssml=True): (2000, 6000),
        Speech("--help; $(reboot)", voice="espeak"): (300, 6000),
    }
    async with stage.library(tmp_path, Hibari(LIMITS), espeak, limits=MediaLimits()) as library:
        for speech, (shortest_ms, longest_ms) in texts.items():
            clip = await library.fetch(speech)
            assert shortest_ms < clip.duration_ms < longest_ms, speech
            assert np.abs(await heard(library, clip)).max() > 2000, speech
            assert library.known(speech) == clip
        assert (await failure(library, Speech("a", language="tlh"))).reason == "speech_failed"
        assert (await failure(library, Speech("<p>", ssml=True))).reason == "speech_failed"


async def test_substitute_speaks(stage: Stage, tmp_path: Path) -> None:
    """When the neural voice has nothing for a text, espeak speaks it, for the time being."""
    espeak = await find_espeak()
    assert espeak is not None
    starved = Hibari(MediaLimits(worker_memory_bytes=1 << 20))
    async with stage.library(tmp_path, starved, espeak) as library:
        clip = await library.fetch(Speech("Hello"))
        assert clip.duration_ms > 300


async def test_no_espeak() -> None:
    """A machine without espeak has no such speaker."""
    assert await find_espeak("no-such-program") is None
