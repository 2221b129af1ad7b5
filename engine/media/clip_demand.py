"""Who needs a clip that is being made: callers that wait, and calls that will play it."""

from collections import Counter

from engine.media.clip import OwnedSource


class ClipDemand:
    """The need for each source; a call without an id stands for calls to come."""

    def __init__(self) -> None:
        self.waiting: Counter[OwnedSource] = Counter()  # callers of `fetch`
        self._calls: dict[OwnedSource, set[str]] = {}
        self._sources: dict[str, set[OwnedSource]] = {}

    def add(self, owned: OwnedSource, call_id: str) -> None:
        """Note that a call will play a source."""
        self._calls.setdefault(owned, set()).add(call_id)
        self._sources.setdefault(call_id, set()).add(owned)

    def remove_source(self, owned: OwnedSource) -> None:
        """Forget which calls will play a source: it is made, or was given up."""
        for call_id in self._calls.pop(owned, ()):
            self._sources[call_id].discard(owned)
            if not self._sources[call_id]:
                del self._sources[call_id]

    def remove_call(self, call_id: str) -> set[OwnedSource]:
        """Forget a call; returns the sources that it would have played."""
        sources = self._sources.pop(call_id, set())
        for owned in sources:
            self._calls[owned].discard(call_id)
        return sources

    def is_needed(self, owned: OwnedSource) -> bool:
        """Return whether a caller waits for a source, or a call will play it."""
        if not self.waiting[owned]:
            del self.waiting[owned]
        return owned in self.waiting or bool(self._calls.get(owned))
