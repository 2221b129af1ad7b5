"""Why a bot cannot be reached."""

from wire.streams.reports import EndReason


class BotUnreachable(Exception):
    """No stream with this bot; `reason` is for programs, the text for people."""

    def __init__(self, reason: EndReason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
