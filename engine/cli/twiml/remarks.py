"""What the reader of a converted document should know, with the lines that it is about."""

from msgspec import Struct

from engine.cli.twiml.document import Element


class Remark(Struct, frozen=True):
    """A difference, or with `is_lost` something that the tree does not do."""

    line: int
    text: str
    is_lost: bool = False


class Remarks:
    """Collects the remarks of one conversion."""

    def __init__(self) -> None:
        self._found: list[Remark] = []

    def note(self, element: Element, text: str) -> None:
        """Say what is different in the tree."""
        self._found.append(Remark(element.line, f"<{element.name}> {text}"))

    def lose(self, element: Element, text: str) -> None:
        """Say what the tree does not do."""
        self._found.append(Remark(element.line, f"<{element.name}> {text}", is_lost=True))

    def sorted(self) -> tuple[Remark, ...]:
        """Return each remark once, in the order of the lines."""
        return tuple(sorted(dict.fromkeys(self._found), key=lambda each: each.line))
