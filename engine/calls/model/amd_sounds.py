"""The sounds that a leg makes, for answer detection; times are wall-clock milliseconds."""

from msgspec import Struct
from msgspec.structs import replace

MIN_SOUND_MS = 100  # AMD's min_word_length: a shorter sound is a click, not a voice


class AmdSounds(Struct, frozen=True, array_like=True):
    """The sounds of a leg since detection started."""

    since_ms: int
    voice_ms: int = 0  # total length of sounds that have ended
    silent_from_ms: int = 0  # end of the last of them
    sound_from_ms: int = 0  # start of the current sound; 0: none


def sound_started(activity: AmdSounds, now: int) -> AmdSounds:
    """Record the start of a sound."""
    return activity if activity.sound_from_ms else replace(activity, sound_from_ms=now)


def sound_ended(activity: AmdSounds, duration_ms: int, now: int) -> AmdSounds:
    """Record the end of a sound."""
    if duration_ms < MIN_SOUND_MS:
        return replace(activity, sound_from_ms=0)
    from_ms = activity.sound_from_ms or now - duration_ms
    return replace(
        activity,
        voice_ms=activity.voice_ms + duration_ms,
        silent_from_ms=min(now, from_ms + duration_ms),
        sound_from_ms=0,
    )
