"""What engines send to a bot: each message once, and none before the bot is there."""

from collections.abc import Iterator

from wire.streams.setup import StreamMessage

MAX_IDS = 1_000  # that are remembered
MAX_EARLY = 100


class Inbox:
    """The messages of one stream."""

    def __init__(self) -> None:
        self._ids: dict[str, None] = {}
        self._early: list[StreamMessage] = []
        self._is_open = False

    def put(self, message_id: str, message: StreamMessage) -> Iterator[StreamMessage]:
        """Take a message; return what is to be sent now."""
        if message_id in self._ids:
            return iter(())
        self._ids[message_id] = None
        if len(self._ids) > MAX_IDS:
            del self._ids[next(iter(self._ids))]
        if self._is_open:
            return iter((message,))
        if len(self._early) < MAX_EARLY:
            self._early.append(message)
        return iter(())

    def open(self) -> Iterator[StreamMessage]:
        """Return what has waited for the bot."""
        self._is_open = True
        early, self._early = self._early, []
        return iter(early)
