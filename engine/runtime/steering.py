"""What a live call was asked and can't do."""

from engine.calls.refusals import Refusal


class Refused(Exception):
    """A request can't be done now; `refusal` says why."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.detail)
        self.refusal = refusal
