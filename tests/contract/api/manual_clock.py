"""A clock that is moved by hand."""


class Hand:
    """Begins in the future, so that nothing is taken for the wall clock's."""

    def __init__(self) -> None:
        self.now = 1_900_000_000_000

    def __call__(self) -> int:
        """Tell the time."""
        return self.now
