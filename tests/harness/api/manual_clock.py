"""A clock that the test sets."""


class ManualClock:
    """Starts in the future, so that its time is never one of the wall clock."""

    def __init__(self) -> None:
        self.now = 1_900_000_000_000

    def __call__(self) -> int:
        """Return the time."""
        return self.now
