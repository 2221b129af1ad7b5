"""What an index alone tells of the filters that it is not for: a hash of each, in one number.

Every index ends with a call's marks. Whoever looks up by one filter sees there that a call can't
fit another, without a look at its row. What is alike by chance is looked at (decision 0029).
"""

from collections.abc import Iterable, Mapping
from typing import Any
from zlib import crc32

# Bits of each; together no more than the 63 of a signed number that is not negative.
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
AGENT_BITS = 12  # of which each agent of a call sets one
_SHIFTS = {name: sum([*BIT_WIDTHS.values()][:place]) for place, name in enumerate(BIT_WIDTHS)}
_AGENTS_SHIFT = sum(BIT_WIDTHS.values())


def signature_of(values: Mapping[str, Any], agent_names: Iterable[str]) -> int:
    """Give the marks of a call by what is in its columns, and the names of its agents."""
    marks = agent_signature(agent_names)
    for name in BIT_WIDTHS:
        marks |= signature_bits(name, values.get(name))
    return marks


def signature_bits(name: str, value: str | bool | None) -> int:
    """Give what a value leaves in the marks."""
    return _hash(value, BIT_WIDTHS[name]) << _SHIFTS[name]


def signature_mask(names: Iterable[str]) -> int:
    """Give the bits of some columns."""
    return sum((1 << BIT_WIDTHS[name]) - 1 << _SHIFTS[name] for name in names)


def agent_signature(names: Iterable[str]) -> int:
    """Give the bits of some agents: a call that has one of them has one of these."""
    marks = 0
    for name in names:
        marks |= 1 << _AGENTS_SHIFT + crc32(name.encode()) % AGENT_BITS
    return marks


def _hash(value: str | bool | None, width: int) -> int:
    if isinstance(value, str):
        return crc32(value.encode()) & (1 << width) - 1
    return int(value or 0)
