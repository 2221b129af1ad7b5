"""Audio as a PBX has it: frames of 20 ms in one of its formats, and how loud they are."""

from collections.abc import Callable

from msgspec import Struct

FRAME_MS = 20
FRAMES_PER_S = 1000 // FRAME_MS
_BIAS = 132
_ULAW_STEP = 128  # of the table below: a byte holds 0..32124 in such steps
_HIGH_BYTE_STEP = 256


def ulaw_sample(code: int) -> int:
    """Return the 16-bit sample of a code of µ-law (G.711)."""
    code = ~code & 0xFF
    magnitude = (((code & 0x0F) << 3) + _BIAS << ((code & 0x70) >> 4)) - _BIAS
    return -magnitude if code & 0x80 else magnitude


# Both tables make the sum of a frame's magnitudes a translation in C, without a library.
_ULAW_MAGNITUDES = bytes(abs(ulaw_sample(code)) // _ULAW_STEP for code in range(256))
_HIGH_BYTE_MAGNITUDES = bytes(high if high < 0x80 else 0xFF - high for high in range(256))  # noqa: PLR2004 - the sign


def ulaw_level(frame: bytes) -> int:
    """Return the mean magnitude of µ-law, 0..32124, from every second sample."""
    half = frame[::2]
    return sum(half.translate(_ULAW_MAGNITUDES)) * _ULAW_STEP // (len(half) or 1)


def linear_level(frame: bytes) -> int:
    """Return the mean magnitude of 16-bit samples, from the upper bytes of every second one."""
    highs = frame[1::4]
    return sum(highs.translate(_HIGH_BYTE_MAGNITUDES)) * _HIGH_BYTE_STEP // (len(highs) or 1)


class AudioFormat(Struct, frozen=True):
    """A format of the PBX: mono, with this many samples a second."""

    name: str
    rate: int
    sample_bytes: int
    silence_byte: bytes
    level: Callable[[bytes], int]  # the mean magnitude of a frame

    @property
    def frame_bytes(self) -> int:
        """The size of 20 ms."""
        return self.rate // FRAMES_PER_S * self.sample_bytes

    @property
    def silence(self) -> bytes:
        """20 ms without a sound."""
        return self.silence_byte * self.frame_bytes


ULAW = AudioFormat("ulaw", 8000, 1, b"\xff", ulaw_level)


def linear(rate: int) -> AudioFormat:
    """Return the PBX's format of 16-bit samples, low byte first."""
    name = "slin" if rate == ULAW.rate else f"slin{rate // 1000}"
    return AudioFormat(name, rate, 2, b"\x00", linear_level)
