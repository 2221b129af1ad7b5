"""Reads lines of a text with push-back; lines that are too long are cut."""

from collections import deque
from typing import TextIO

from api.contacts.imports.reader.messages import MAX_ROW_CHARS


class Lines:
    def __init__(self, text: TextIO) -> None:
        self._text = text
        self._pushed_back: deque[str] = deque()
        self.number = 0  # of the last line returned, from 1

    def next(self) -> str:
        """Return the next line, or an empty string at the end."""
        self.number += 1
        if self._pushed_back:
            return self._pushed_back.popleft()
        line = self._text.readline(MAX_ROW_CHARS + 1)
        if len(line) > MAX_ROW_CHARS:
            rest = line
            while rest and not rest.endswith("\n"):
                rest = self._text.readline(MAX_ROW_CHARS + 1)
        return line

    def push_back(self, lines: list[str]) -> None:
        """Return lines to the reader, to be read again."""
        self._pushed_back.extendleft(reversed(lines))
        self.number -= len(lines)


def is_too_long(line: str) -> bool:
    """Return whether a line was cut."""
    return len(line) > MAX_ROW_CHARS
