"""The bytes of a stored attempt: deflate with a dictionary of what attempts have in common.

Alone, an attempt is too short to repeat itself. A released dictionary never changes: what was
compressed with it stays readable.
"""

import zlib
from pathlib import Path

import msgspec

from engine.webhooks.log.logged_attempt import LoggedAttempt

DICTIONARIES = Path(__file__).parent
_DICTIONARY = 1  # its number is the first byte of an attempt
_LEVEL = 3  # 6 saves two per cent and costs a third more CPU
# A window of 4 KB and small tables: they are copied for each attempt, which costs less than to
# fill new ones with the dictionary. A code of its own would cost an attempt more than it saves.
_WINDOW, _MEMORY_LEVEL, _STRATEGY = -12, 4, zlib.Z_FIXED
_dictionary = (DICTIONARIES / f"dictionary-{_DICTIONARY}.bin").read_bytes()
_deflate = zlib.compressobj(
    _LEVEL, zlib.DEFLATED, _WINDOW, _MEMORY_LEVEL, _STRATEGY, zdict=_dictionary
)
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(LoggedAttempt).decode
_HEAD = bytes([_DICTIONARY])


def compress(attempt: LoggedAttempt) -> bytes:
    """Return an attempt as it is stored."""
    deflate = _deflate.copy()
    return _HEAD + deflate.compress(_encode(attempt)) + deflate.flush()


def decompress(stored: bytes) -> LoggedAttempt | None:
    """Return a stored attempt; None if a later version stored it in another form."""
    if not stored.startswith(_HEAD):
        return None
    try:
        inflate = zlib.decompressobj(_WINDOW, zdict=_dictionary)
        return _decode(inflate.decompress(stored[len(_HEAD) :]))
    except (zlib.error, msgspec.DecodeError):
        return None
