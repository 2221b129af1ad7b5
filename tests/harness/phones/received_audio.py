"""What a phone hears: tones, any sound at all, and all of it as a record."""

import time
from pathlib import Path

import numpy as np

from tests.harness.phones.audio import Frame, Samples, ToneSpan, is_sound, level, spans, tones, wav
from tests.harness.phones.rtp import RtpLine
from tests.harness.until import until

RECENT_MS = 100


class ReceivedAudio:
    """Reads what has come over a line."""

    _line: RtpLine

    @property
    def frames(self) -> list[Frame]:
        """Return all that was heard, in order of arrival."""
        return self._line.frames

    def tones_heard(self, *tones_hz: int) -> list[ToneSpan]:
        """Say which of these tones were heard when."""
        return tones(self.frames, tones_hz)

    def sound_spans(self) -> list[ToneSpan]:
        """Say when anything at all was heard: speech, music, tones."""
        return spans([each for each in self.frames if is_sound(each.samples)])

    def hears(self, hz: int) -> bool:
        """Tell whether a tone was heard throughout the last 100 ms."""
        lately = [f for f in self.frames[-5:] if f.at_ms > time.monotonic() * 1000 - RECENT_MS]
        return len(lately) >= 3 and all(level(f.samples, hz) > 800 for f in lately)

    async def until_hears(self, hz: int, timeout_s: float = 10) -> None:
        """Wait until a tone is heard."""
        await until(lambda: self.hears(hz), timeout_s=timeout_s, what=f"{hz} Hz to be heard")

    def recording(self) -> Samples:
        """Return what was heard as one piece, without the silence in which nothing was sent."""
        pieces = [each.samples for each in self.frames]
        return np.concatenate(pieces) if pieces else np.zeros(0, np.int16)

    def write_wav(self, path: Path) -> None:
        """Write what was heard."""
        path.write_bytes(wav(self.recording()))
