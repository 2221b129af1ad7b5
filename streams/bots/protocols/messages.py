"""What a bot's message means, whatever its protocol."""

from msgspec import Struct

from wire.streams.reports import EndReason

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


class Failed(Struct, frozen=True):
    """The bot cannot go on, and says why."""

    reason: EndReason
    detail: str


class Ready(Struct, frozen=True):
    """A recognizer has accepted its start."""


class SpeechBegan(Struct, frozen=True):
    """A recognizer heard an utterance begin, at a position in the audio that it was sent."""

    at_ms: int


class SpeechStopped(Struct, frozen=True):
    """The last speech of the utterance was at this position; what was understood follows."""

    at_ms: int


class Understood(Struct, frozen=True):
    """What a recognizer understood of the oldest utterance that waits for it; empty: nothing."""

    text: str
    confidence: float


RecognizerMessage = Ready | SpeechBegan | SpeechStopped | Understood
BotMessage = bytes | Clear | Mark | Stop | Action | Ignored | Failed | RecognizerMessage
CLEAR, STOP, IGNORED = Clear(), Stop(), Ignored()


def mark_of(name: str) -> Mark:
    """Return a mark; raises InvalidMessage for an endless name."""
    if len(name) > MAX_MARK_CHARS:
        raise InvalidMessage(f"a mark's name has more than {MAX_MARK_CHARS} characters")
    return Mark(name)
