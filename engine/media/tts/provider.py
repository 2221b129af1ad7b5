"""Who can speak a text: the interface of speakers, and the order in which they are asked."""

from collections.abc import Sequence
from typing import Protocol

from engine.media.clip import MediaError
from wire.media import Speech


class TtsProvider(Protocol):
    """One provider of speech."""

    @property
    def name(self) -> str:
        """The provider's name; a customer may ask for it as a voice."""

    @property
    def languages(self) -> frozenset[str]:
        """Primary language subtags in lower case (`en`)."""

    @property
    def voices(self) -> frozenset[str]:
        """The voices that it knows by name."""

    @property
    def ssml(self) -> bool:
        """Whether it understands marked-up text."""

    async def speak(self, speech: Speech) -> bytes:
        """Speak and return a WAV file of any rate; raises MediaFailed."""

    async def close(self) -> None:
        """End what it runs."""


def rank_providers(speakers: Sequence[TtsProvider], speech: Speech) -> list[TtsProvider]:
    """Order those who can speak it: who knows the voice asked for first, else as configured."""
    language = speech.language.split("-")[0].lower()
    able = [s for s in speakers if language in s.languages and (s.ssml or not speech.ssml)]
    return sorted(able, key=lambda s: speech.voice not in {s.name, *s.voices})


async def synthesize(speakers: Sequence[TtsProvider], speech: Speech) -> tuple[bytes, str]:
    """Have the first who succeeds speak; returns the WAV file and the speaker's name."""
    failure = MediaError("speech_failed", f"no speaker for language {speech.language}")
    for speaker in rank_providers(speakers, speech):
        try:
            return await speaker.speak(speech), speaker.name
        except MediaError as error:
            failure = MediaError("speech_failed", f"{speaker.name}: {error.text}")
    raise failure
