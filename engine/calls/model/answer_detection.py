"""Classifies who answered by when a leg makes sounds; times are wall-clock milliseconds.

The rules are those of Asterisk's AMD() (apps/app_amd.c): a machine says nothing at first, or speaks
long; a person says a word and waits. The input is TALK_DETECT, which reports the start of each
sound and its length. Words are not counted: TALK_DETECT does not report the short gaps between
them.
"""

from msgspec import Struct
from msgspec.structs import replace

from wire.answer_detection import AnsweredBy, Detection

SOUND_END_SILENCE_MS = 200  # a sound ends after this much silence
MIN_SOUND_MS = 100  # AMD's min_word_length: a shorter sound is a click, not a voice


class SoundActivity(Struct, frozen=True, array_like=True):
    """The sounds of a leg since detection started."""

    since_ms: int
    voice_ms: int = 0  # total length of sounds that have ended
    silent_from_ms: int = 0  # end of the last of them
    sound_from_ms: int = 0  # start of the current sound; 0: none


def silence_ms(asked: Detection) -> int:
    """Return how long a silence ends a sound."""
    return min(SOUND_END_SILENCE_MS, asked.after_greeting_silence)


def sound_started(heard: SoundActivity, now: int) -> SoundActivity:
    """Record the start of a sound."""
    return heard if heard.sound_from_ms else replace(heard, sound_from_ms=now)


def sound_ended(heard: SoundActivity, duration_ms: int, now: int) -> SoundActivity:
    """Record the end of a sound."""
    if duration_ms < MIN_SOUND_MS:
        return replace(heard, sound_from_ms=0)
    from_ms = heard.sound_from_ms or now - duration_ms
    return replace(
        heard,
        voice_ms=heard.voice_ms + duration_ms,
        silent_from_ms=min(now, from_ms + duration_ms),
        sound_from_ms=0,
    )


def classify(asked: Detection, heard: SoundActivity) -> tuple[int, AnsweredBy]:
    """Return when the result is known, and the result, if there is no other sound before."""
    known_ms, who = _by_sound(asked, heard)
    latest_ms = heard.since_ms + asked.timeout
    return (known_ms, who) if known_ms <= latest_ms else (latest_ms, "unknown")


def _by_sound(asked: Detection, heard: SoundActivity) -> tuple[int, AnsweredBy]:
    if heard.voice_ms >= asked.greeting:
        return heard.silent_from_ms, "machine"
    if heard.sound_from_ms:
        left_ms = asked.greeting - heard.voice_ms
        return heard.sound_from_ms + left_ms + silence_ms(asked), "machine"
    if heard.voice_ms:
        return heard.silent_from_ms + asked.after_greeting_silence, "human"
    return heard.since_ms + asked.initial_silence, "machine"
