"""Why a bot cannot be reached."""

from wire.streams.reports import EndReason


class BotUnreachable(Exception):
    """No stream with this bot; `reason` is for programs, the text for people.

    `http_status` is that of a response other than a websocket's; 0: none.
    """

    def __init__(self, reason: EndReason, detail: str, http_status: int = 0) -> None:
        super().__init__(detail)
        self.reason = reason
        self.http_status = http_status
