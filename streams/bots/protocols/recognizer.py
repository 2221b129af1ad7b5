"""The protocol of speech recognizers: audio out, and what was understood in."""

from typing import Any, ClassVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from streams.bots.protocols.messages import (
    IGNORED,
    BotMessage,
    Failed,
    InvalidMessage,
    Ready,
    SpeechBegan,
    SpeechStopped,
    Understood,
    decode_text,
)
from streams.bots.protocols.protocol import Position
from streams.stream.audio import AudioFormat, linear
from wire.streams.recognizer import RecognizerStop
from wire.streams.reports import EndReason
from wire.streams.setup import Recognition

MAX_TEXT_CHARS = 4_000  # of an utterance: a minute of speech has a quarter of that
_TEMPORARY = frozenset({"overloaded", "failed", "idle"})  # another attempt may succeed


class _Message(Struct, rename="camel"):
    """Any text of a recognizer; unknown fields are ignored."""

    type: str
    at_ms: int | None = None
    text: str | None = None
    confidence: float = 0.0
    code: str = ""
    message: str = ""


_DECODER = msgspec.json.Decoder(_Message)


class RecognizerProtocol:
    """The protocol of one stream; nothing but audio reaches a recognizer."""

    subprotocol: ClassVar[str] = ""
    is_binary: ClassVar[bool] = True
    cleared: ClassVar[bytes] = b""

    def __init__(self, account: str, recognition: Recognition) -> None:
        self.audio_format: AudioFormat = linear(recognition.start.rate)
        self._start = replace(recognition.start, account=account)

    def greeting(self) -> list[bytes]:
        """See BotProtocol."""
        return [msgspec.json.encode(self._start)]

    def audio(self, frame: bytes, at_ms: int) -> bytes:  # noqa: ARG002 - the frames count it
        """See BotProtocol."""
        return frame

    def read_text(self, data: bytes) -> BotMessage:
        """See BotProtocol."""
        message = decode_text(_DECODER, data)
        match message:
            case _Message(type="ready"):
                return Ready()
            case _Message(type="speech-started", at_ms=int(at_ms)):
                return SpeechBegan(at_ms)
            case _Message(type="speech-ended", at_ms=int(at_ms)):
                return SpeechStopped(at_ms)
            case _Message(type="final", text=str(text)):
                confidence = min(max(message.confidence, 0.0), 1.0)
                return Understood(text[:MAX_TEXT_CHARS], confidence)
            case _Message(type="error"):
                return _failure(message)
            case _Message(type="speech-started" | "speech-ended" | "final"):
                raise InvalidMessage(f"`{message.type}` without what belongs to it")
            case _:
                return IGNORED

    def read_binary(self, data: bytes) -> BotMessage:  # noqa: ARG002 - whatever it is
        """See BotProtocol."""
        raise InvalidMessage("a binary message: recognizers send texts")

    def mark(self, name: str, position: Position, *, is_cleared: bool) -> None:
        """See BotProtocol: it has none."""

    def digit(self, digit: str, position: Position) -> None:
        """See BotProtocol: it has none."""

    def extension(self, fields: dict[str, Any], position: Position) -> None:
        """See BotProtocol: it has none."""

    def farewell(self, position: Position) -> bytes:  # noqa: ARG002 - the frames count it
        """See BotProtocol."""
        return msgspec.json.encode(RecognizerStop())


def _failure(message: _Message) -> Failed:
    code = message.code or "failed"
    reason: EndReason = "bot-lost" if code in _TEMPORARY else "bot-closed"
    return Failed(reason, f"{code}: {message.message}")
