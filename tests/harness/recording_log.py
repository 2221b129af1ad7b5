"""A webhook log that keeps what is added to it."""

from engine.webhooks.log.exchange import Exchange


class RecordingLog:
    """Implements `AttemptLog`."""

    def __init__(self) -> None:
        self.exchanges: list[Exchange] = []

    def add(self, exchange: Exchange) -> None:
        self.exchanges.append(exchange)
