"""The names that a bot gives to marks, and the keys that its PBX gets instead."""

from wire.decoding.printable import printable

MAX_REPORTED_CHARS = 200


def reported(name: str) -> str:
    """Return what reports have of a name; the bot gets all of it back."""
    return printable(name[:MAX_REPORTED_CHARS])


class MarkNames:
    """The marks of one stream; names may be any text, and repeat."""

    def __init__(self) -> None:
        self.last_heard = ""  # as reports have it
        self._count = 0
        self._names: dict[str, str] = {}

    def add(self, name: str) -> str:
        """Return the key of a new mark."""
        self._count += 1
        key = f"m{self._count}"
        self._names[key] = name
        return key

    def take(self, key: str, *, is_cleared: bool) -> str:
        """Return the name of a mark that was heard or cleared."""
        name = self._names.pop(key)
        if not is_cleared:
            self.last_heard = reported(name)
        return name
