"""How far a reader of all shards' events has read, as the id of an event.

An id names the position in every shard, in few characters: a client repeats it in a header. It is
the JSON of `[base_ms, {node: positions}]`, in which the positions of a node's slots follow each
other, each as its hexadecimal distance from the base.
"""

import re
from collections.abc import Iterable, Mapping

import msgspec

from engine.store.stream import START, entry_order
from wire.shard import ShardId

_OFFSET = re.compile(r"(?P<ms>[0-9a-f]{1,16})(?:-(?P<number>[0-9]{1,20}))?")
_MAX_PART = 2**64  # a Redis id has two 64-bit parts; Redis rejects larger ones
_id = msgspec.json.Decoder(tuple[int, dict[str, str]])


class StreamPositions:
    """The last entry that was read of each shard."""

    def __init__(self, after: Mapping[ShardId, str]) -> None:
        self.after = dict(after)
        read = [entry_order(entry)[0] for entry in self.after.values() if entry != START]
        self._base_ms = min(read, default=0)
        self._texts = dict.fromkeys({shard.node for shard in self.after}, "")
        for node in self._texts:
            self._write(node)

    def add(self, shards: Iterable[ShardId]) -> None:
        """Begin to read shards that are new."""
        for shard in shards:
            if shard not in self.after:
                self.advance(shard, START)

    def advance(self, shard: ShardId, entry: str) -> None:
        self.after[shard] = entry
        self._write(shard.node)

    @property
    def id(self) -> bytes:
        return msgspec.json.encode((self._base_ms, self._texts))

    def _write(self, node: str) -> None:
        slots = sorted(shard for shard in self.after if shard.node == node)
        entries = {shard.slot: self._offset(self.after[shard]) for shard in slots}
        self._texts[node] = ",".join(entries.get(slot, "") for slot in range(max(entries) + 1))

    def _offset(self, entry: str) -> str:
        if entry == START:
            return ""
        at_ms, number = entry_order(entry)
        return f"{max(0, at_ms - self._base_ms):x}" + (f"-{number}" if number else "")


def parse_positions(text: str, shards: Iterable[ShardId]) -> dict[ShardId, str]:
    """Parse an id; shards that it does not name are new to the reader. Raises ValueError."""
    try:
        base_ms, texts = _id.decode(text)
    except (msgspec.DecodeError, UnicodeError):
        raise ValueError(text) from None
    found = dict.fromkeys(shards, START)
    for node, offsets in texts.items():
        for slot, offset in enumerate(offsets.split(",")):
            shard = ShardId(node, slot)
            if shard not in found:
                raise ValueError(text)
            found[shard] = _entry(base_ms, offset)
    return found


def _entry(base_ms: int, offset: str) -> str:
    if not offset:
        return START
    parts = _OFFSET.fullmatch(offset)
    if parts is None:
        raise ValueError(offset)
    at_ms, number = base_ms + int(parts["ms"], 16), int(parts["number"] or 0)
    if not (0 <= at_ms < _MAX_PART and number < _MAX_PART):
        raise ValueError(offset)
    return f"{at_ms}-{number}"
