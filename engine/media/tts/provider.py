"""The interface of text-to-speech providers, and the order in which they are tried."""

from collections.abc import Sequence
from typing import Protocol

from engine.media.clip import MediaError
from wire.media import Speech


class TtsProvider(Protocol):
    @property
    def name(self) -> str:
        """The provider's name; a verb may name it as its voice."""

    @property
    def languages(self) -> frozenset[str]:
        """Primary language subtags in lower case (`en`)."""

    @property
    def voices(self) -> frozenset[str]:
        """The names of its voices."""

    @property
    def ssml(self) -> bool:
        """Whether it supports SSML."""

    async def synthesize(self, account: str, speech: Speech) -> bytes:
        """Return a WAV file of any sample rate, in the account's turn; raises MediaError."""

    async def close(self) -> None:
        """Stop its processes."""


def rank_providers(providers: Sequence[TtsProvider], speech: Speech) -> list[TtsProvider]:
    """Return the providers that support a text: those with its voice first."""
    language = speech.language.split("-")[0].lower()
    able = [p for p in providers if language in p.languages and (p.ssml or not speech.ssml)]
    return sorted(able, key=lambda p: speech.voice not in {p.name, *p.voices})


async def synthesize(
    providers: Sequence[TtsProvider], account: str, speech: Speech
) -> tuple[bytes, str]:
    """Return the WAV file and the name of the first provider that succeeds."""
    failure = MediaError("unknown_language", f"no provider for language {speech.language}")
    for provider in rank_providers(providers, speech):
        try:
            return await provider.synthesize(account, speech), provider.name
        except MediaError as error:
            failure = MediaError("speech_failed", f"{provider.name}: {error.text}")
    raise failure
