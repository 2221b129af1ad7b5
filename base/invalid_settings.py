"""The error of invalid settings; clients raise it without the imports of whole settings."""

from collections.abc import Iterable


class InvalidSettings(Exception):
    """A program does not start with these settings; a line for each error."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.lines = tuple(lines)
        super().__init__("\n".join(self.lines))
