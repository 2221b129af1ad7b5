"""What the reader of a converted document should know, with the lines that it is about."""

from typing import Protocol

from msgspec import Struct


class Place(Protocol):
    """What a remark is about: a part of the document."""

    @property
    def line(self) -> int:
        """Its line, from 1."""
        ...

    @property
    def label(self) -> str:
        """What a reader finds there, such as `<Say>`."""
        ...


class Remark(Struct, frozen=True):
    """A difference, or with `is_lost` something that the tree does not do."""

    line: int
    text: str
    is_lost: bool = False


class Remarks:
    """Collects the remarks of one conversion."""

    def __init__(self) -> None:
        self._found: list[Remark] = []

    def note(self, place: Place, text: str) -> None:
        """Say what is different in the tree."""
        self._found.append(Remark(place.line, f"{place.label} {text}"))

    def lose(self, place: Place, text: str) -> None:
        """Say what the tree does not do."""
        self._found.append(Remark(place.line, f"{place.label} {text}", is_lost=True))

    def sorted(self) -> tuple[Remark, ...]:
        """Return each remark once, in the order of the lines."""
        return tuple(sorted(dict.fromkeys(self._found), key=lambda each: each.line))
