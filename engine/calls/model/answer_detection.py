"""Who answered, judged by when a leg makes sounds and when not; times in wall-clock milliseconds.

The reasoning of Asterisk's own AMD() (apps/app_amd.c): a machine says nothing at first, or speaks
long; a person says a word and waits. It is fed by TALK_DETECT, which tells when sounds begin and
how long they were. Words are not counted: TALK_DETECT does not tell the short gaps between them.
"""

from msgspec import Struct
from msgspec.structs import replace

from wire.answer_detection import AnsweredBy, Detection

SOUND_END_SILENCE_MS = 200  # a sound ends when it has been silent for so long
MIN_SOUND_MS = 100  # AMD's min_word_length: what is shorter is a click, not a voice


class SoundActivity(Struct, frozen=True, array_like=True):
    """What has been heard of a leg since it was listened to."""

    since_ms: int
    voice_ms: int = 0  # of sounds that have ended
    silent_from_ms: int = 0  # when the last of them ended
    sound_from_ms: int = 0  # of one that goes on


def silence_ms(asked: Detection) -> int:
    """Tell how long a silence ends a sound."""
    return min(SOUND_END_SILENCE_MS, asked.after_greeting_silence)


def sound_started(heard: SoundActivity, now: int) -> SoundActivity:
    """Note that a sound began."""
    return heard if heard.sound_from_ms else replace(heard, sound_from_ms=now)


def sound_ended(heard: SoundActivity, duration_ms: int, now: int) -> SoundActivity:
    """Note how long a sound was."""
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
    """Tell when it is known who answered, and who, if nothing more is heard until then."""
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
