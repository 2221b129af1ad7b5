"""The two codecs of G.711: µ-law and A-law."""

import numpy as np

from dev.phone.g711 import ULAW_VALUES
from tests.harness.phones.audio import Samples

CODES = np.arange(256, dtype=np.int32)


class Codec:
    """A codec with 256 values; `payload_type` is its number in RTP (RFC 3551)."""

    def __init__(self, payload_type: int, values: Samples) -> None:
        self.payload_type = payload_type
        self._values = values
        self._order = np.argsort(values)
        ascending = values[self._order].astype(np.int32)
        self._middles = (ascending[:-1] + ascending[1:]) // 2

    def encode(self, samples: Samples) -> bytes:
        """Encode each sample as the nearest of the values."""
        return bytes(self._order[np.searchsorted(self._middles, samples)].astype(np.uint8))

    def decode(self, data: bytes) -> Samples:
        decoded: Samples = self._values[np.frombuffer(data, np.uint8)]
        return decoded


def _alaw_values() -> Samples:
    """Return the value of every code (ITU-T G.711, table 1)."""
    codes = CODES ^ 0x55
    segment, step = (codes & 0x70) >> 4, (codes & 0x0F) << 4
    sizes = np.where(segment > 0, (step + 0x108) << np.maximum(segment - 1, 0), step + 8)
    values: Samples = np.where(codes & 0x80, sizes, -sizes).astype(np.int16)
    return values


ULAW = Codec(0, np.array(ULAW_VALUES, np.int16))
ALAW = Codec(8, _alaw_values())
