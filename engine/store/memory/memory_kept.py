"""What the streams' twin keeps of one slot: entries by their ids, and how far groups have come."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

Id = tuple[int, int]


class KeptGroup:
    """How far a group has come in one slot."""

    def __init__(self) -> None:
        self.last: Id = (0, 0)
        self.pending: dict[Id, int] = {}  # when each was delivered last
        self.gap: tuple[Id, Id, int] | None = None

    @property
    def floor(self) -> Id:
        """Before this it has acknowledged everything."""
        return min(self.pending, default=self.last)


class KeptSlot:
    """One slot's entries, in order, and its groups."""

    def __init__(self) -> None:
        self.ids: list[Id] = []
        self.bodies: list[bytes] = []
        self.groups: dict[str, KeptGroup] = {}

    def cut(self, count: int) -> int:
        """Take the oldest off; returns how many."""
        if count > 0:
            del self.ids[:count], self.bodies[:count]
        return max(0, count)

    def newer(self, than: Id, limit: int) -> Iterator[tuple[Id, bytes]]:
        """Give what came after an entry."""
        first = bisect_right(self.ids, than)
        part = slice(first, first + limit)
        return zip(self.ids[part], self.bodies[part], strict=True)

    def body(self, entry: Id) -> bytes | None:
        """Find an entry; None when it was cut off."""
        place = bisect_left(self.ids, entry)
        is_there = place < len(self.ids) and self.ids[place] == entry
        return self.bodies[place] if is_there else None
