"""What gateways have reported of streams: a recovery repeats what its call may have missed."""

from engine.calls.model.stream_events import (
    SpeechUnderstood,
    StreamConnected,
    StreamEnded,
    StreamEvent,
)

MAX_STREAMS = 10_000
_ORDER = (StreamConnected, SpeechUnderstood, StreamEnded)


class StreamMemory:
    """The last event of each kind that a recovery needs, whichever engine has the call now."""

    def __init__(self) -> None:
        self._last: dict[str, dict[type[StreamEvent], StreamEvent]] = {}

    def note(self, event: StreamEvent) -> None:
        """Remember an event, if a recovery needs it."""
        if not isinstance(event, _ORDER):
            return
        known = self._last.pop(event.stream, {})
        if isinstance(event, SpeechUnderstood) and event.is_noise:
            event = known.get(SpeechUnderstood, event)
        self._last[event.stream] = {**known, type(event): event}
        if len(self._last) > MAX_STREAMS:
            del self._last[next(iter(self._last))]

    def forget(self, stream: str) -> None:
        """Forget a stream that has ended."""
        self._last.pop(stream, None)

    def events(self, stream: str) -> tuple[StreamEvent, ...]:
        """Return the events of a stream in order."""
        known = self._last.get(stream, {})
        return tuple(known[kind] for kind in _ORDER if kind in known)
