"""A silence before a clip, for playbacks that resume.

Whenever Asterisk resumes a file, or begins it at an offset, it first sends the file's first 20 ms,
and seeks only then (docs/asterisk.md). With a lead-in these are silent.
"""

from pathlib import Path

from engine.media.clip import BYTES_PER_MS, HEADER_BYTES

LEAD_IN_MS = 20
_SILENCE = bytes(LEAD_IN_MS * BYTES_PER_MS)
_RIFF_SIZE, _DATA_SIZE = slice(4, 8), slice(40, 44)
_BEFORE_RIFF_SIZE = 8  # bytes that it does not count


def read_with_lead_in(clip: Path) -> bytes:
    """Return the WAV file of a clip, with its lead-in."""
    wav = bytearray(clip.read_bytes())
    wav[HEADER_BYTES:HEADER_BYTES] = _SILENCE
    wav[_RIFF_SIZE] = (len(wav) - _BEFORE_RIFF_SIZE).to_bytes(4, "little")
    wav[_DATA_SIZE] = (len(wav) - HEADER_BYTES).to_bytes(4, "little")
    return bytes(wav)
