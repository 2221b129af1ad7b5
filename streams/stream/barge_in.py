"""Decides what happens to a bot's audio when the caller makes a sound.

`flush` drops it. `pause` stops it until it is known what the sound was: after a cough it continues
where it stopped, after speech it is dropped. Energy may pause, but only a detector of voices, or
the bot itself, may drop: a noise on the line costs 400 ms at most.
"""

from collections.abc import Mapping
from typing import Literal

from wire.streams.setup import BargeIn

MAX_PAUSE_MS = 400
QUIET_MS = 120  # the sound is over, and it was no speech

Decision = Literal["pause", "resume", "flush"]
Outcome = Literal["paused", "resumed", "flushed"]
OUTCOMES: Mapping[Decision, Outcome] = {"pause": "paused", "resume": "resumed", "flush": "flushed"}


class BargeInRule:
    """The rule of one stream."""

    def __init__(self, mode: BargeIn) -> None:
        self._mode = mode
        self._paused_ms: float | None = None
        self._is_watching = False

    @property
    def needs_judgement(self) -> bool:
        """Whether the caller's frames are examined for a voice."""
        return self._is_watching

    @property
    def is_paused(self) -> bool:
        """Whether the audio is stopped until it is known what the sound was."""
        return self._paused_ms is not None

    def began(self, is_playing: bool, now_ms: float) -> Decision | None:
        """Take the beginning of a sound of the caller."""
        if not is_playing or self._mode == "off":
            return None
        if self._mode == "flush":
            return "flush"
        self._is_watching = True
        self._paused_ms = now_ms
        return "pause"

    def hear(self, is_voice: bool, quiet_ms: int, now_ms: float) -> Decision | None:
        """Another frame of the caller; `is_voice`: so far it sounds like speech."""
        if not self._is_watching:
            return None
        if is_voice:
            self.reset()
            return "flush"
        return self._resumed(is_over=quiet_ms >= QUIET_MS, now_ms=now_ms)

    def tick(self, now_ms: float) -> Decision | None:
        """Time has passed, with or without frames of the caller."""
        return self._resumed(is_over=False, now_ms=now_ms) if self._is_watching else None

    def ended(self) -> None:
        """Take the end of the caller's sound."""
        self._is_watching = False

    def reset(self) -> None:
        """Start again: the audio was dropped, by the bot or by this rule."""
        self._is_watching = False
        self._paused_ms = None

    def _resumed(self, *, is_over: bool, now_ms: float) -> Decision | None:
        # After it has resumed, what continues to sound may still turn out to be speech.
        if self._paused_ms is None or not (is_over or now_ms - self._paused_ms >= MAX_PAUSE_MS):
            return None
        self._paused_ms = None
        return "resume"


GAP_MS = 150
MAX_MS = 1_500


class Muffle:
    """Whether a bot's audio is dropped; times are milliseconds of one clock."""

    _last_ms: float

    def __init__(self) -> None:
        self._since_ms: float | None = None

    @property
    def is_active(self) -> bool:
        """Whether what comes may be dropped."""
        return self._since_ms is not None

    def begin(self, now_ms: float) -> None:
        """Drop what follows: the audio was flushed in the middle of what the bot said."""
        self._since_ms = self._last_ms = now_ms

    def end(self) -> None:
        """Let everything pass: the bot has noticed it."""
        self._since_ms = None

    def drops(self, is_silent: bool, now_ms: float) -> bool:
        """Return whether a message with audio is dropped."""
        since_ms = self._since_ms
        if since_ms is None:
            return False
        if now_ms - self._last_ms >= GAP_MS or now_ms - since_ms >= MAX_MS:
            self._since_ms = None
            return False
        if not is_silent:
            self._last_ms = now_ms
        return True
