"""A dictionary of limited size that drops its oldest entries."""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

MAX_ENTRIES = 10_000

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class BoundedDict(Generic[K, V]):
    def __init__(self, max_entries: int = MAX_ENTRIES) -> None:
        self._max_entries = max_entries
        self._entries: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K) -> V | None:
        return self._entries.get(key)

    def put(self, key: K, value: V) -> V:
        """Store a value, drop the oldest entry if there are too many, and return the value."""
        self._entries.pop(key, None)
        self._entries[key] = value
        if len(self._entries) > self._max_entries:
            self._entries.popitem(last=False)
        return value
