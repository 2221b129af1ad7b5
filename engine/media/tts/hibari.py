"""Synthesizes English with hibari, a small neural voice; its model is part of the package."""

from engine.media.clip import MediaLimits
from engine.media.worker.process import Worker
from engine.media.worker.protocol import Synthesize
from wire.media import Speech

_DEFAULT_VOICE = "heart"


class Hibari:
    """The hibari provider, in its own worker process: 1 s for the first text, then 50 ms."""

    name = "hibari"
    languages = frozenset({"en"})
    ssml = False

    def __init__(
        self, limits: MediaLimits, voices: frozenset[str] = frozenset({_DEFAULT_VOICE})
    ) -> None:
        self.voices = voices
        self.worker = Worker(limits)

    async def synthesize(self, speech: Speech) -> bytes:
        """Return a WAV file in the requested voice if hibari has it, else in the default voice."""
        voice = speech.voice if speech.voice in self.voices else None
        return await self.worker.run(Synthesize(speech.text, voice or _DEFAULT_VOICE))

    async def close(self) -> None:
        await self.worker.close()
