"""Reads the header of a WAV file, and takes one channel out of its samples."""

import struct

from msgspec import Struct

from api.transcripts.outcomes import Untranscribable

SAMPLE_BYTES = 2
RATES = (8_000, 16_000, 24_000)  # that recognizers take
MAX_CHANNELS = 2
_PCM = 1
_CHUNK = struct.Struct("<4sI")
_FORMAT = struct.Struct("<HHIIHH")


class WavFormat(Struct, frozen=True):
    """Where the samples are, and what they are: signed, of 16 bits, channel by channel."""

    channels: int
    rate: int
    start: int  # of the samples, in the file
    end: int

    @property
    def frame_bytes(self) -> int:
        """A sample of each channel."""
        return SAMPLE_BYTES * self.channels

    @property
    def duration_ms(self) -> int:
        return (self.end - self.start) * 1_000 // (self.frame_bytes * self.rate)


def parse_header(beginning: bytes, file_bytes: int) -> WavFormat:
    """Return the format of a file by its beginning; raises Untranscribable."""
    if beginning[:4] != b"RIFF" or beginning[8:12] != b"WAVE":
        raise Untranscribable("unreadable", "it is no WAV file")
    position, found = 12, None
    while position + _CHUNK.size <= len(beginning):
        name, size = _CHUNK.unpack_from(beginning, position)
        position += _CHUNK.size
        if name == b"fmt " and position + _FORMAT.size <= len(beginning):
            found = _FORMAT.unpack_from(beginning, position)
        elif name == b"data" and found is not None:
            return _format(found, position, min(position + size, file_bytes))
        position += size + size % 2  # chunks are padded to even sizes
    raise Untranscribable("unreadable", "its header has no format, or no samples follow")


def _format(found: tuple[int, ...], start: int, end: int) -> WavFormat:
    kind, channels, rate, _, _, bits = found
    if (kind, bits) != (_PCM, 8 * SAMPLE_BYTES):
        raise Untranscribable("unreadable", "its samples are not PCM of 16 bits")
    if rate not in RATES or not 0 < channels <= MAX_CHANNELS:
        raise Untranscribable("unreadable", f"it has {channels} channels of {rate} Hz")
    frame_bytes = SAMPLE_BYTES * channels
    return WavFormat(channels, rate, start, end - (end - start) % frame_bytes)


def channel_of(samples: bytes, channels: int, channel: int) -> bytes:
    """Return the samples of one channel; there are whole frames."""
    return samples if channels == 1 else memoryview(samples).cast("h")[channel::channels].tobytes()
