"""The stored form of an ended call: its last state and its log in one compressed value.

Deflate without a header, and with a dictionary of what calls have in common: alone, a call is too
short to repeat itself. Dictionaries are numbered and never change, so that what was compressed
with an earlier one stays readable; `tests/harness/generate/dictionary.py` made them.
"""

import struct
import zlib
from io import BytesIO
from pathlib import Path

import msgspec
from msgspec import Struct

DICTIONARIES = Path(__file__).with_name("dictionaries")
DICTIONARY = 1  # the newest; an engine compresses with the newest that all live engines have
LEVEL = 5  # 6 saves a byte of 380 and costs a fifth more CPU, 3 costs 7 % of the size
_RAW = -15  # no header, no checksum: Redis keeps the length
_MEMORY_LEVEL = 8
# The node's name, which is empty, and a byte that no msgpack begins with: an engine that does not
# know this form takes the call for one that it cannot decode.
MARK = b"\0\xc1"
_head = struct.Struct(">2sBI")  # commit.lua reads it, too
_dictionaries = {int(each.stem): each.read_bytes() for each in DICTIONARIES.glob("*.bin")}
_body = msgspec.msgpack.Decoder(tuple[list[int], bytes])  # the length of each part, all parts


class EndedCall(Struct, frozen=True):
    """An ended call's last state, and the lines of its log."""

    state: bytes
    log: tuple[bytes, ...]


def encode_body(call: EndedCall) -> bytes:
    """Return what is compressed: lengths apart from the parts, because the parts repeat."""
    parts = (call.state, *call.log)
    return msgspec.msgpack.encode(([len(each) for each in parts], b"".join(parts)))


def compress(call: EndedCall, dictionary: int = DICTIONARY) -> bytes:
    """Compress with a dictionary that every reader has."""
    zdict = _dictionaries[dictionary]
    deflate = zlib.compressobj(LEVEL, zlib.DEFLATED, _RAW, _MEMORY_LEVEL, zdict=zdict)
    head = _head.pack(MARK, dictionary, len(call.log))
    return head + deflate.compress(encode_body(call)) + deflate.flush()


def is_compressed(record: bytes) -> bool:
    return record.startswith(MARK)


def decompress(record: bytes) -> EndedCall:
    """Return a compressed call; one that this version cannot read has its record as state.

    No version can decode such a state, so the call is treated like every one that does not decode.
    """
    try:
        _mark, dictionary, _lines = _head.unpack_from(record)
        inflate = zlib.decompressobj(_RAW, zdict=_dictionaries[dictionary])
        lengths, joined = _body.decode(inflate.decompress(record[_head.size :]))
    except (struct.error, KeyError, zlib.error, msgspec.DecodeError):
        return EndedCall(record, ())
    parts = BytesIO(joined)
    state, *log = map(parts.read, lengths)
    return EndedCall(state, tuple(log))
