"""Checks of a call: compares its timeline with the audio that the phones received."""

import io
import wave
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import aiohttp
import numpy as np
from msgspec import Struct

from tests.harness.phones.audio import FRAME_MS, FRAME_SAMPLES, is_sound
from tests.harness.phones.phone import Phone
from tools.demo.context import phone_ms
from wire.views import Timeline

MIN_SPEECH_SHARE = 0.9  # of the prompt without its pauses
MIN_MUSIC_SHARE = 0.8
EDGE_MS = 60  # frames in transit
MIN_TALK_MS = 1_000


class Check(Struct, frozen=True):
    """One claim, whether it holds, and the measured value."""

    claim: str
    holds: bool
    measured: str


def hears_tone(name: str, phone: Phone, hz: int, other: str) -> Check:
    """Check that a phone received the other's tone for at least a second."""
    heard_ms = sum(each.length_ms for each in phone.tones_heard(hz))
    claim = f"the {name} hears the {other}'s tone ({hz} Hz)"
    return Check(claim, heard_ms >= MIN_TALK_MS, f"for {heard_ms / 1000:.1f} s")


def is_muted(phone: Phone, hz: int, other: str) -> Check:
    """Check that a tone was absent for a second and came back."""
    heard = phone.tones_heard(hz)
    gaps = [after.start_ms - before.end_ms for before, after in pairwise(heard)]
    longest_ms = max(gaps, default=0)
    claim = f"while the {other} is muted, it is not heard"
    return Check(claim, longest_ms >= MIN_TALK_MS, f"for {longest_ms / 1000:.1f} s")


def has_record(record: Mapping[str, Any]) -> Check:
    """Check the call record."""
    summary = f"{record['status']}, {record['talkMs'] / 1000:.1f} s of talk"
    return Check("its record is kept", record["status"] == "completed", summary)


async def prompt_heard(
    phone: Phone, timeline: Timeline, index: int, what: str, media: str
) -> Check:
    """Check that a phone received the prompt number `index` in full.

    `media` is the address at which the engine serves audio.
    """
    claim = f"{what} is heard"
    plays = [(at_ms, each) for at_ms, each in _commands(timeline) if each["type"] == "play"]
    if len(plays) <= index:
        return Check(claim, False, "not played")
    at_ms, play = plays[index]
    ended_ms = _ended_ms(timeline, play["playback"])
    if not ended_ms:
        return Check(claim, False, "Asterisk playback failed")
    spoken_ms = sum([await _clip_ms(f"{media}/{key}.wav") for key, _length in play["clips"]])
    heard_ms = sounding_ms(phone, at_ms, ended_ms)
    measured = f"{heard_ms / 1000:.1f} s of the {spoken_ms / 1000:.1f} s of speech"
    return Check(claim, heard_ms >= MIN_SPEECH_SHARE * spoken_ms, measured)


async def _clip_ms(url: str) -> int:
    """Return for how long a clip is not silent."""
    async with aiohttp.ClientSession() as http, http.get(url) as reply:
        body = await reply.read()
    with wave.open(io.BytesIO(body)) as clip:
        samples = np.frombuffer(clip.readframes(clip.getnframes()), "<i2")
    starts = range(0, len(samples) - FRAME_SAMPLES + 1, FRAME_SAMPLES)
    return sum(FRAME_MS for at in starts if is_sound(samples[at : at + FRAME_SAMPLES]))


def music_heard(phone: Phone, timeline: Timeline) -> Check:
    """Check that hold music played while the second leg rang."""
    claim = "music on hold is heard while the second leg rings"
    started_ms = _command_ms(timeline, "start-hold-music")
    ended_ms = _command_ms(timeline, "stop-hold-music")
    if not started_ms or not ended_ms:
        return Check(claim, False, "not played")
    wait_ms = ended_ms - started_ms
    heard_ms = sounding_ms(phone, started_ms, ended_ms)
    measured = f"for {heard_ms / 1000:.1f} s of {wait_ms / 1000:.1f} s"
    return Check(claim, heard_ms >= MIN_MUSIC_SHARE * wait_ms, measured)


def sounding_ms(phone: Phone, from_ms: float, to_ms: float) -> int:
    """Return for how long any sound was received between two wall-clock times."""
    first, last = phone_ms(from_ms), phone_ms(to_ms) + EDGE_MS
    heard = [each for each in phone.frames if first <= each.at_ms <= last]
    return sum(FRAME_MS for each in heard if is_sound(each.samples))


def nothing_left(left: list[str]) -> Check:
    """Check that no channel and no bridge of the call is left."""
    return Check("no channel and no bridge is left", not left, ", ".join(left) or "none")


def is_completed(timeline: Timeline) -> Check:
    """Check the status of the call."""
    status = timeline.call.status
    return Check("the call is completed", status == "completed", status)


def _command_ms(timeline: Timeline, command: str) -> int:
    return next((at_ms for at_ms, each in _commands(timeline) if each["type"] == command), 0)


def _commands(timeline: Timeline) -> Iterator[tuple[int, dict[str, Any]]]:
    for row in timeline.rows:
        yield row.at_ms, row.details or {"type": ""}


def _ended_ms(timeline: Timeline, playback: str) -> int:
    """Return when a playback ended; 0 if it failed or did not end."""
    ended = {"type": "playback-ended", "playback": playback, "failed": False}
    return next((at_ms for at_ms, each in _commands(timeline) if each == ended), 0)
