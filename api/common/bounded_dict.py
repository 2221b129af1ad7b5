"""A dictionary with a limit: who came first goes first."""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

MAX_ENTRIES = 10_000

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class BoundedDict(Generic[K, V]):
    """What is known for a while."""

    def __init__(self, most: int = MAX_ENTRIES) -> None:
        self._max_entries = most
        self._entries: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K) -> V | None:
        """Give what is known of a key."""
        return self._entries.get(key)

    def put(self, key: K, value: V) -> V:
        """Remember, and forget the oldest if need be; gives the value."""
        self._entries.pop(key, None)
        self._entries[key] = value
        if len(self._entries) > self._max_entries:
            self._entries.popitem(last=False)
        return value
