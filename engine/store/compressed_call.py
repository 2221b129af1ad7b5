"""The stored form of an ended call: its last state and its log, compressed.

Deflate without a header, and with a dictionary of what calls have in common: alone, a call is too
short to repeat itself. Dictionaries are numbered and never change, so that what was compressed
with an earlier one stays readable; `tools/dictionary.py` made them. A long log is compressed in
pieces of PIECE_LINES lines, so that nothing takes longer for it than for a short one.
"""

import re
import struct
import zlib
from collections.abc import Sequence
from itertools import accumulate, pairwise
from pathlib import Path

import msgspec
from msgspec import Struct

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


# A byte that msgpack does not use, before bytes that no value of a call begins with: a time that
# ends with the first byte and the value after it are no mark.
_CALL, _CHANNEL, _NEXT_PART = b"\xc1\xc7", b"\xc1\xc9", b"\xc1\xd8"
_MARK = b"\xc1"  # the first byte of each
_TIME = b"\xcf\x00\x00\x01"  # how wall-clock milliseconds begin in msgpack, from 2004 to 2039
_TIME_BYTES = 5  # that follow
_times = re.compile(_TIME + b"(.{5})", re.DOTALL)
# Asterisk's id of a channel: a name, the second of its creation, a number. The name is looked for
# backwards from the second: forwards, long words of a customer's would take quadratic time.
_created = re.compile(rb"-\d{10}\.\d+")
_name = re.compile(rb"[\w-]+\Z")
_MAX_NAME = 64
_encode = msgspec.msgpack.Encoder().encode
_text = msgspec.msgpack.Decoder(tuple[bytes, list[int], bytes])
_parts = msgspec.msgpack.Decoder(list[bytes])


def encode_parts(call_id: str, parts: Sequence[bytes]) -> tuple[bool, bytes]:
    """Return parts as one text; or as they are, and False, if the text would be ambiguous."""
    joined = _NEXT_PART.join(parts)
    text = joined.replace(call_id.encode(), _CALL)
    channel = _first_channel(text)
    if channel:
        text = text.replace(channel, _CHANNEL)
    pieces = _times.split(text)
    times = [0, *(int.from_bytes(each) for each in pieces[1::2])]
    differences = [later - earlier for earlier, later in pairwise(times)]
    encoded = _encode((channel, differences, _TIME.join(pieces[::2])))
    has_marks = joined.count(_MARK) >= len(parts) or text.count(_TIME) >= len(times)
    if has_marks and not _is_exact(call_id, encoded, parts):
        return False, _encode(parts)
    return True, encoded


def _first_channel(text: bytes) -> bytes:
    for created in _created.finditer(text):
        first = max(0, created.start() - _MAX_NAME)
        if name := _name.search(text[first : created.start()]):
            return name[0] + created[0]
    return b""


def _is_exact(call_id: str, encoded: bytes, parts: Sequence[bytes]) -> bool:
    try:
        return decode_parts(call_id, encoded, is_text=True) == list(parts)
    except ValueError:
        return False


def decode_parts(call_id: str, encoded: bytes, *, is_text: bool) -> list[bytes]:
    """Return the parts; raises ValueError."""
    if not is_text:
        return _parts.decode(encoded)
    channel, differences, text = _text.decode(encoded)
    first, *pieces = text.split(_TIME)
    times = accumulate(differences)
    joined = first + b"".join(
        _TIME + at_ms.to_bytes(_TIME_BYTES) + piece
        for at_ms, piece in zip(times, pieces, strict=True)
    )
    restored = joined.replace(_CHANNEL, channel).replace(_CALL, call_id.encode())
    return restored.split(_NEXT_PART)
