"""The stored form of an ended call: its last state and its log, compressed.

Deflate without a header, and with a dictionary of what calls have in common: alone, a call is too
short to repeat itself. Dictionaries are numbered and never change, so that what was compressed
with an earlier one stays readable; `tools/dictionary.py` made them. A long log is compressed in
pieces of PIECE_LINES lines, so that nothing takes longer for it than for a short one.
"""

import struct
import zlib
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from engine.store.call_text import decode_parts, encode_parts

DICTIONARIES = Path(__file__).with_name("dictionaries")
DICTIONARY = 3  # the newest; an engine compresses with the newest that all live engines have
LEVEL = 5  # 6 saves a byte of 380 and costs a fifth more CPU, 3 costs 7 % of the size
PIECE_LINES = 250  # a call of five minutes with a menu has 60
_RAW = -15  # no header, no checksum: Redis keeps the length
_MEMORY_LEVEL = 8
# The node's name, which is empty, and a byte that no msgpack begins with: an engine that does not
# know this form takes the call for one that it cannot decode.
MARK = b"\0\xc1"
# Mark, number of the dictionary, form, length of the whole log; also in commit.lua.
_head = struct.Struct(">2sBBI")
HEAD_BYTES = _head.size
_TEXT, _IN_PIECES = 0b01, 0b10  # of the form: the parts are a text; the log is elsewhere
_dictionaries = {int(each.stem): each.read_bytes() for each in DICTIONARIES.glob("*.bin")}


class EndedCall(Struct, frozen=True):
    """An ended call's last state, and the lines of its log, unless these are stored in pieces."""

    state: bytes
    log: tuple[bytes, ...]


def compress(call_id: str, call: EndedCall, dictionary: int = DICTIONARY) -> bytes:
    """Compress with a dictionary that every reader has."""
    return _pack(call_id, (call.state, *call.log), len(call.log), dictionary)


def compress_state(call_id: str, state: bytes, lines: int, dictionary: int) -> bytes:
    """Compress the state of a call whose log has so many lines, in pieces."""
    return _pack(call_id, (state,), lines, dictionary, _IN_PIECES)


def compress_piece(call_id: str, lines: Sequence[bytes], dictionary: int) -> bytes:
    """Compress lines of a log."""
    return _pack(call_id, lines, len(lines), dictionary)


def is_compressed(record: bytes) -> bool:
    return record.startswith(MARK)


def is_in_pieces(head: bytes) -> bool:
    """Return whether a record with these first HEAD_BYTES is of a call whose log is in pieces."""
    return is_compressed(head) and len(head) >= HEAD_BYTES and bool(head[3] & _IN_PIECES)


def decompress(call_id: str, record: bytes) -> EndedCall:
    """Return a compressed call; one that this version cannot read has its record as state.

    No version can decode such a state, so the call is treated like every one that does not decode.
    """
    try:
        state, *log = _unpack(call_id, record)
    except (struct.error, KeyError, zlib.error, ValueError):
        return EndedCall(record, ())
    return EndedCall(state, tuple(log))


def decompress_piece(call_id: str, piece: bytes) -> list[bytes]:
    """Return lines of a log; none if this version cannot read them."""
    try:
        return _unpack(call_id, piece)
    except (struct.error, KeyError, zlib.error, ValueError):
        return []


def _pack(
    call_id: str, parts: Sequence[bytes], lines: int, dictionary: int, form: int = 0
) -> bytes:
    is_text, body = encode_parts(call_id, parts)
    zdict = _dictionaries[dictionary]
    deflate = zlib.compressobj(LEVEL, zlib.DEFLATED, _RAW, _MEMORY_LEVEL, zdict=zdict)
    head = _head.pack(MARK, dictionary, form | (_TEXT if is_text else 0), lines)
    return head + deflate.compress(body) + deflate.flush()


def _unpack(call_id: str, record: bytes) -> list[bytes]:
    """Return the parts."""
    _mark, dictionary, form, _lines = _head.unpack_from(record)
    inflate = zlib.decompressobj(_RAW, zdict=_dictionaries[dictionary])
    body = inflate.decompress(record[_head.size :])
    return decode_parts(call_id, body, is_text=bool(form & _TEXT))
