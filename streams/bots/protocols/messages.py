"""What a bot's message means, whatever its protocol."""

from binascii import a2b_base64
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from streams.bots.limits import MAX_ACTION_BYTES
from wire.decoding.json_errors import repaired
from wire.streams.reports import EndReason

MAX_MARK_CHARS = 1_000
MAX_DEPTH = 100  # of an action
T = TypeVar("T")
_NOT_JSON = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
_OF_ADDRESSES = bytes.maketrans(b"-_", b"+/")  # RFC 4648, section 5
_NOT_AUDIO = b"\r\n\t="  # line breaks, and an end that is counted again


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


def decode_text(decoder: msgspec.json.Decoder[T], data: bytes) -> T:
    """Decode a message; raises InvalidMessage. One that needs no repair costs nothing more."""
    try:
        return decoder.decode(data)
    except _NOT_JSON as error:
        if (meant := repaired(data)) == data:
            raise InvalidMessage(str(error)) from None
    try:
        return decoder.decode(meant)
    except _NOT_JSON as error:
        raise InvalidMessage(str(error)) from None


def decode_audio(text: str) -> bytes:
    """Decode base64, also with line breaks, with the letters of addresses, or without `=`.

    The text is at most read three times, whatever is in it. Raises InvalidMessage.
    """
    try:
        return a2b_base64(text, strict_mode=True)
    except ValueError:
        usual = text.encode().translate(_OF_ADDRESSES, _NOT_AUDIO)
    try:
        return a2b_base64(usual + b"=" * (-len(usual) % 4), strict_mode=True)
    except ValueError as error:
        raise InvalidMessage(f"audio that is no base64: {error}") from None


def check_tree(tree: bytes) -> None:
    """Check that an action can be read, not what it means.

    Raises InvalidMessage for what could disturb the reports of other streams.
    """
    if len(tree) > MAX_ACTION_BYTES:
        raise InvalidMessage(f"an action has more than {MAX_ACTION_BYTES} bytes")
    try:
        value = msgspec.json.decode(tree)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise InvalidMessage(f"an action that is no JSON: {error}") from None
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [child for each in level for child in _children(each)]
        if not level:
            return
    raise InvalidMessage(f"an action is nested deeper than {MAX_DEPTH} levels")


def _children(value: Any) -> list[Any]:
    match value:
        case dict():
            return [*value.values()]
        case list():
            return value
        case _:
            return []
