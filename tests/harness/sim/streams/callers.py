"""SimCallers: what callers say to recognizers, and what these make of it."""

import random
from collections.abc import Iterator
from typing import Protocol

from msgspec import Struct

from wire.streams.recognizer import RecognizerStart
from wire.streams.reports import EndReason

FAILURE: tuple[tuple[EndReason, str], ...] = (
    ("bot-lost", "overloaded: 4 streams"),
    ("unreachable", "no `ready` in 5 s"),
    ("bot-closed", "unknown-words: sim"),
)
LOSSES: tuple[tuple[EndReason, str], ...] = (
    ("bot-lost", "failed: sim"),
    ("bot-lost", ""),
    ("bot-closed", "unsupported-language: sim"),
)
CONFIDENCES = (0.0, 0.29, 0.3, 0.49, 0.5, 0.51, 0.9, 1.0)
MAX_COUGH_MS = 300


class Utterance(Struct, frozen=True):
    """A sound of a caller; times in ms.

    `latency_ms` is from its end, as the recognizer notices it, to the transcript; None: never.
    """

    length_ms: float
    is_voice: bool = True  # as the gateway's detector is sure after `judged_ms`
    judged_ms: float = 200.0
    is_noticed: bool = True  # the recognizer takes it for an utterance
    text: str = ""
    confidence: float = 0.0
    latency_ms: float | None = 100.0


class Callers(Protocol):
    """Chooses what happens to recognizers."""

    def connects_after_ms(self) -> float:
        """Return how long a recognizer takes to accept a stream."""

    def failure(self) -> tuple[EndReason, str] | None:
        """Return why a recognizer does not accept a stream, if it does not."""

    def loss(self) -> tuple[float, EndReason, str] | None:
        """Return when and why a recognizer ends a stream, if it does."""

    def utterances(self, start: RecognizerStart) -> Iterator[tuple[float, Utterance]]:
        """Yield what the caller says, each after a silence."""


class SimCallers:
    """Seeded callers and recognizers."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def connects_after_ms(self) -> float:
        """See Callers."""
        return self._rng.choice((3.0, 30.0, 300.0))

    def failure(self) -> tuple[EndReason, str] | None:
        """See Callers."""
        return self._rng.choice(FAILURE) if self._rng.random() < 0.12 else None

    def loss(self) -> tuple[float, EndReason, str] | None:
        """See Callers."""
        rng = self._rng
        return (rng.uniform(5, 6_000), *rng.choice(LOSSES)) if rng.random() < 0.15 else None

    def utterances(self, start: RecognizerStart) -> Iterator[tuple[float, Utterance]]:
        """See Callers."""
        rng = self._rng
        for _ in range(rng.choice((0, 1, 1, 2, 4, 7))):
            silence_ms = rng.choice((60, 300, 1_000, 4_000)) * (0.5 + rng.random())
            cough = rng.random() < 0.45
            yield silence_ms, self._cough(start) if cough else self._speech(start)

    def _cough(self, start: RecognizerStart) -> Utterance:
        rng = self._rng
        is_taken_for_word = rng.random() < 0.1
        return Utterance(
            length_ms=rng.uniform(40, MAX_COUGH_MS),
            is_voice=False,
            is_noticed=rng.random() < 0.5,
            text=self._text(start) if is_taken_for_word else "",
            confidence=rng.choice(CONFIDENCES) if is_taken_for_word else 0.0,
            latency_ms=self._latency_ms(),
        )

    def _speech(self, start: RecognizerStart) -> Utterance:
        rng = self._rng
        is_understood = rng.random() < 0.8
        length_ms = rng.choice((300, 1_000, 1_000, 6_000)) * (0.5 + rng.random())
        length_ms = min(length_ms, start.max_ms)
        judged_ms = rng.choice((130, 250, 600)) * (0.8 + 0.4 * rng.random())
        return Utterance(
            length_ms=length_ms,
            is_voice=judged_ms < length_ms,  # a short word is taken for a cough
            judged_ms=judged_ms,
            text=self._text(start) if is_understood else "",
            confidence=rng.choice(CONFIDENCES) if is_understood else 0.0,
            latency_ms=self._latency_ms(),
        )

    def _text(self, start: RecognizerStart) -> str:
        hints = [each for each in start.hints if isinstance(each, str)]
        return self._rng.choice(hints or ["yes", "no"])

    def _latency_ms(self) -> float | None:
        rng = self._rng
        return None if rng.random() < 0.07 else rng.choice((5, 60, 1_000)) * (0.5 + rng.random())


class SilentCallers:
    """Callers of scripted worlds, where only the script speaks; every recognizer accepts."""

    def connects_after_ms(self) -> float:
        """See Callers."""
        return 30.0

    def failure(self) -> None:
        """See Callers."""

    def loss(self) -> None:
        """See Callers."""

    def utterances(self, start: RecognizerStart) -> Iterator[tuple[float, Utterance]]:
        """See Callers."""
        del start
        return iter(())
