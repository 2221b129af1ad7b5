"""The stored form of an ended call: its last state and its log in one compressed value.

Deflate without a header, and with a dictionary of what calls have in common: alone, a call is too
short to repeat itself. Dictionaries are numbered and never change, so that what was compressed
with an earlier one stays readable; `tools/dictionary.py` made them.
"""

import struct
import zlib
from pathlib import Path

from msgspec import Struct

from engine.store.call_text import decode_parts, encode_parts

DICTIONARIES = Path(__file__).with_name("dictionaries")
DICTIONARY = 2  # the newest; an engine compresses with the newest that all live engines have
LEVEL = 5  # 6 saves a byte of 380 and costs a fifth more CPU, 3 costs 7 % of the size
_RAW = -15  # no header, no checksum: Redis keeps the length
_MEMORY_LEVEL = 8
# The node's name, which is empty, and a byte that no msgpack begins with: an engine that does not
# know this form takes the call for one that it cannot decode.
MARK = b"\0\xc1"
# Mark, number of the dictionary, whether the body is a text, length of the log; also in commit.lua.
_head = struct.Struct(">2sB?I")
_dictionaries = {int(each.stem): each.read_bytes() for each in DICTIONARIES.glob("*.bin")}


class EndedCall(Struct, frozen=True):
    """An ended call's last state, and the lines of its log."""

    state: bytes
    log: tuple[bytes, ...]


def compress(call_id: str, call: EndedCall, dictionary: int = DICTIONARY) -> bytes:
    """Compress with a dictionary that every reader has."""
    is_text, body = encode_parts(call_id, (call.state, *call.log))
    zdict = _dictionaries[dictionary]
    deflate = zlib.compressobj(LEVEL, zlib.DEFLATED, _RAW, _MEMORY_LEVEL, zdict=zdict)
    head = _head.pack(MARK, dictionary, is_text, len(call.log))
    return head + deflate.compress(body) + deflate.flush()


def is_compressed(record: bytes) -> bool:
    return record.startswith(MARK)


def decompress(call_id: str, record: bytes) -> EndedCall:
    """Return a compressed call; one that this version cannot read has its record as state.

    No version can decode such a state, so the call is treated like every one that does not decode.
    """
    try:
        _mark, dictionary, is_text, _lines = _head.unpack_from(record)
        inflate = zlib.decompressobj(_RAW, zdict=_dictionaries[dictionary])
        body = inflate.decompress(record[_head.size :])
        state, *log = decode_parts(call_id, body, is_text=is_text)
    except (struct.error, KeyError, zlib.error, ValueError):
        return EndedCall(record, ())
    return EndedCall(state, tuple(log))
