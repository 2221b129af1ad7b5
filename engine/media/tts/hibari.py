"""English by a small neural voice, offline: hibari's model lies in its package."""

from engine.media.clip import MediaLimits
from engine.media.worker.process import Worker
from engine.media.worker.protocol import Synthesize
from wire.media import Speech

_DEFAULT_VOICE = "heart"


class Hibari:
    """Speaks English in its own worker process; about a second for the first text, then 50 ms."""

    name = "hibari"
    languages = frozenset({"en"})
    ssml = False

    def __init__(
        self, limits: MediaLimits, voices: frozenset[str] = frozenset({_DEFAULT_VOICE})
    ) -> None:
        self.voices = voices
        self.worker = Worker(limits)

    async def speak(self, speech: Speech) -> bytes:
        """Speak in the voice asked for, if it is one of hibari's, else in the default one."""
        voice = speech.voice if speech.voice in self.voices else None
        return await self.worker.run(Synthesize(speech.text, voice or _DEFAULT_VOICE))

    async def close(self) -> None:
        """End the worker."""
        await self.worker.close()
