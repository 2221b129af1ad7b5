"""The WAV file that a PBX gets of one clip, or of several that it plays one after another.

Asterisk fetches an address when its turn comes: of a list, the later ones would be missing if their
engine died during the first. Whenever it resumes a file, or begins it at an offset, it first sends
the file's first 20 ms, and seeks only then (docs/asterisk.md). With a lead-in these are silent.
"""

from collections.abc import Sequence

from engine.media.clip import BYTES_PER_MS, HEADER_BYTES

LEAD_IN_MS = 20
MAX_JOINED = 8  # clips: their keys are the address
MAX_JOINED_MS = 120_000  # 2 MB; a PBX keeps each list that it plays
_SILENCE = bytes(LEAD_IN_MS * BYTES_PER_MS)
_RIFF_SIZE, _DATA_SIZE = slice(4, 8), slice(40, 44)
_BEFORE_RIFF_SIZE = 8  # bytes that it does not count


def served_clip(clips: Sequence[bytes], *, has_lead_in: bool) -> bytes:
    """Return the WAV file of the WAV files of clips."""
    lead_in = _SILENCE if has_lead_in else b""
    samples = (each[HEADER_BYTES:] for each in clips)
    wav = bytearray(b"".join((clips[0][:HEADER_BYTES], lead_in, *samples)))
    wav[_RIFF_SIZE] = (len(wav) - _BEFORE_RIFF_SIZE).to_bytes(4, "little")
    wav[_DATA_SIZE] = (len(wav) - HEADER_BYTES).to_bytes(4, "little")
    return bytes(wav)
