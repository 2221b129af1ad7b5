"""Bitmap signatures: an index entry tells which other filters its call cannot match.

A signature holds a few hash bits of each filtered column, as a Bloom filter does. Every index ends
with it, in the column `marks`. So a scan by one filter excludes most calls that do not match the
others without reading their rows; equal bits are checked in the row (decision 0018).
"""

from collections.abc import Iterable, Mapping
from typing import Any
from zlib import crc32

# Bits of each column; in sum at most 63, a signed number that is not negative.
BIT_WIDTHS = {
    "is_answered": 1,
    "has_recording": 1,
    "has_voicemail": 1,
    "client_id": 6,
    "caller_id": 6,
    "to_number": 6,
    "call_path": 5,
    "obd_type": 5,
    "disposition1": 6,
    "disposition2": 6,
    "disposition3": 7,
}
AGENT_BITS = 12  # each agent of a call sets one of them
_SHIFTS = {name: sum([*BIT_WIDTHS.values()][:index]) for index, name in enumerate(BIT_WIDTHS)}
_AGENTS_SHIFT = sum(BIT_WIDTHS.values())


def signature_of(values: Mapping[str, Any], agent_names: Iterable[str]) -> int:
    """Return the signature of a call from its columns and the names of its agents."""
    signature = agent_signature(agent_names)
    for name in BIT_WIDTHS:
        signature |= signature_bits(name, values.get(name))
    return signature


def signature_bits(name: str, value: str | bool | None) -> int:
    """Return the bits that a value sets."""
    return _hash(value, BIT_WIDTHS[name]) << _SHIFTS[name]


def signature_mask(names: Iterable[str]) -> int:
    """Return all bits of some columns."""
    return sum((1 << BIT_WIDTHS[name]) - 1 << _SHIFTS[name] for name in names)


def agent_signature(names: Iterable[str]) -> int:
    """Return the bits of some agents: a call with one of them has one of these."""
    signature = 0
    for name in names:
        signature |= 1 << _AGENTS_SHIFT + crc32(name.encode()) % AGENT_BITS
    return signature


def _hash(value: str | bool | None, width: int) -> int:
    if isinstance(value, str):
        return crc32(value.encode()) & (1 << width) - 1
    return int(value or 0)
