"""Lines of a text, which may be given back; one that is too long is cut, however long it is."""

from collections import deque
from typing import TextIO

from api.contacts.imports.reader.messages import MAX_ROW_CHARS


class Lines:
    """See above."""

    def __init__(self, text: TextIO) -> None:
        self._text = text
        self._back: deque[str] = deque()
        self.number = 0  # of the line that was given last, from 1

    def next(self) -> str:
        """Give the next line, or nothing at the end."""
        self.number += 1
        if self._back:
            return self._back.popleft()
        line = self._text.readline(MAX_ROW_CHARS + 1)
        if len(line) > MAX_ROW_CHARS:
            rest = line
            while rest and not rest.endswith("\n"):
                rest = self._text.readline(MAX_ROW_CHARS + 1)
        return line

    def back(self, lines: list[str]) -> None:
        """Take lines back, to give them again."""
        self._back.extendleft(reversed(lines))
        self.number -= len(lines)


def is_too_long(line: str) -> bool:
    """Tell a line that was cut."""
    return len(line) > MAX_ROW_CHARS
