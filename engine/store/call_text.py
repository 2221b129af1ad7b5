"""A call's state and log as one text in which calls are alike: what differs is moved out of it.

Deflate then copies long pieces of its dictionary, instead of a few bytes between two times. Times
become differences; the call's id is known to the reader, and Asterisk's id of the main channel is
written once. If a call contains one of the marks, its parts are stored as they are.
"""

import re
from collections.abc import Sequence
from itertools import accumulate, pairwise

import msgspec

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
