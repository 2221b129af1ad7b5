"""The audio that a phone receives: tones, other sounds, and a recording of all of it."""

import time
from pathlib import Path

import numpy as np

from tests.harness.phones.audio import (
    FRAME_MS,
    Frame,
    Samples,
    ToneSpan,
    is_sound,
    level,
    spans,
    tones,
    wav,
)
from tests.harness.phones.rtp import RtpLine
from tests.harness.until import MAX_WAIT_S, until

RECENT_MS = 100
LOST_LEVEL = 200


class ReceivedAudio:
    """Analyses the frames that an RTP line has received."""

    _line: RtpLine

    @property
    def line(self) -> RtpLine:
        """Return the RTP side, for programs that exchange audio frame by frame."""
        return self._line

    @property
    def frames(self) -> list[Frame]:
        """Return all received frames in order of arrival."""
        return self._line.frames

    def tones_heard(self, *tones_hz: int, since_ms: float = 0) -> list[ToneSpan]:
        """Return when which of these tones were received, in all or since a time."""
        return tones((each for each in self.frames if each.at_ms >= since_ms), tones_hz)

    def heard_ms(self, hz: int) -> int:
        """Return for how long a tone was received, without what was missing in it."""
        return sum(each.length_ms - each.missing_ms for each in self.tones_heard(hz))

    def sound_spans(self) -> list[ToneSpan]:
        """Return when any sound was received: speech, music, tones."""
        return spans(self.frames, lambda each: is_sound(each.samples))

    def hears(self, hz: int) -> bool:
        """Return whether a tone was received throughout the last 100 ms."""
        recent = [f for f in self.frames[-5:] if f.at_ms > time.monotonic() * 1000 - RECENT_MS]
        return len(recent) >= 3 and all(level(f.samples, hz) > 800 for f in recent)

    async def until_hears(self, hz: int, timeout_s: float = MAX_WAIT_S) -> None:
        """Wait until a tone is received."""
        await until(lambda: self.hears(hz), timeout_s=timeout_s, what=f"{hz} Hz to be received")

    async def until_lost(self, hz: int, timeout_s: float = MAX_WAIT_S) -> None:
        """Wait until a tone is not received any more."""

        def is_lost() -> bool:
            return not any(level(each.samples, hz) > LOST_LEVEL for each in self.frames[-5:])

        await until(is_lost, timeout_s=timeout_s, what=f"{hz} Hz to end")

    async def until_heard(self, hz: int, timeout_s: float = MAX_WAIT_S) -> None:
        """Wait until a tone is or was received, however short it is."""
        await until(lambda: bool(self.tones_heard(hz)), timeout_s=timeout_s, what=f"{hz} Hz")

    async def until_sounds(self, for_ms: int) -> None:
        """Wait until this much more sound is received."""
        before = len(self.frames)

        def has_sounded() -> bool:
            sounds = sum(is_sound(each.samples) for each in self.frames[before:])
            return sounds * FRAME_MS >= for_ms

        await until(has_sounded, what=f"{for_ms} ms of sound")

    def recording(self) -> Samples:
        """Return all received samples, without gaps in which nothing was sent."""
        pieces = [each.samples for each in self.frames]
        return np.concatenate(pieces) if pieces else np.zeros(0, np.int16)

    def write_wav(self, path: Path) -> None:
        """Write all received samples as WAV."""
        path.write_bytes(wav(self.recording()))
