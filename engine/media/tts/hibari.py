"""Synthesizes English with hibari, a small neural voice; its model is part of the package."""

from engine.media.clip import MediaLimits
from engine.media.worker.pool import WorkerPool
from engine.media.worker.protocol import LoadVoice, Synthesize
from wire.media import Speech

_DEFAULT_VOICE = "heart"


class Hibari:
    """The hibari provider, in its own worker processes: 2 s for the first text, then 50 ms."""

    name = "hibari"
    languages = frozenset({"en"})
    ssml = False

    def __init__(
        self, limits: MediaLimits, voices: frozenset[str] = frozenset({_DEFAULT_VOICE})
    ) -> None:
        self.voices = voices
        self.workers = WorkerPool(limits, first_job=LoadVoice(_DEFAULT_VOICE), finish_jobs=True)

    async def synthesize(self, account: str, speech: Speech) -> bytes:
        """Return a WAV file in the requested voice if hibari has it, else in the default voice."""
        voice = speech.voice if speech.voice in self.voices else None
        job = Synthesize(speech.text, voice or _DEFAULT_VOICE)
        return (await self.workers.run(account, job)).wav

    async def close(self) -> None:
        await self.workers.close()
