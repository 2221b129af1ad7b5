"""Classifies who answered by when a leg makes sounds; times are wall-clock milliseconds.

The rules are those of Asterisk's AMD() (apps/app_amd.c): a machine says nothing at first, or speaks
long; a person says a word and waits. The input is TALK_DETECT, which reports the start of each
sound and its length. Words are not counted: TALK_DETECT does not report the short gaps between
them.
"""

from engine.calls.model.amd_sounds import AmdSounds
from wire.answer_detection import AnsweredBy, Detection

SOUND_END_SILENCE_MS = 200  # a sound ends after this much silence


def silence_ms(detection: Detection) -> int:
    """Return how long a silence ends a sound."""
    return min(SOUND_END_SILENCE_MS, detection.after_greeting_silence)


def classify(detection: Detection, activity: AmdSounds) -> tuple[int, AnsweredBy]:
    """Return when the result is known, and the result, if there is no other sound before."""
    known_ms, answered_by = _by_sound(detection, activity)
    limit_ms = activity.since_ms + detection.timeout
    return (known_ms, answered_by) if known_ms <= limit_ms else (limit_ms, "unknown")


def _by_sound(detection: Detection, activity: AmdSounds) -> tuple[int, AnsweredBy]:
    if activity.voice_ms >= detection.greeting:
        return activity.silent_from_ms, "machine"
    if activity.sound_from_ms:
        missing_ms = detection.greeting - activity.voice_ms
        return activity.sound_from_ms + missing_ms + silence_ms(detection), "machine"
    if activity.voice_ms:
        return activity.silent_from_ms + detection.after_greeting_silence, "human"
    return activity.since_ms + detection.initial_silence, "machine"
