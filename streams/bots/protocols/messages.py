"""What a bot's message means, whatever its protocol."""

from msgspec import Struct

MAX_MARK_CHARS = 1_000


class InvalidMessage(Exception):
    """A message that is not what its protocol says."""


class Clear(Struct, frozen=True):
    """The audio that was not heard yet is dropped."""


class Mark(Struct, frozen=True):
    """The bot wants to know when the audio before this was heard."""

    name: str


class Stop(Struct, frozen=True):
    """The bot ends the stream."""


class Action(Struct, frozen=True):
    """The bot wants a tree of verbs to run."""

    tree: bytes  # JSON, not checked


class Ignored(Struct, frozen=True):
    """A message without a meaning here."""


BotMessage = bytes | Clear | Mark | Stop | Action | Ignored  # bytes: audio
CLEAR, STOP, IGNORED = Clear(), Stop(), Ignored()


def mark_of(name: str) -> Mark:
    """Return a mark; raises InvalidMessage for an endless name."""
    if len(name) > MAX_MARK_CHARS:
        raise InvalidMessage(f"a mark's name has more than {MAX_MARK_CHARS} characters")
    return Mark(name)
