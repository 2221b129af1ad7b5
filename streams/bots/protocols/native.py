"""Switchroom's own protocol: binary audio of 16 bits, and positions in each message."""

from typing import Any, ClassVar

import msgspec
from msgspec import Struct

from streams.bots.protocols.messages import (
    CLEAR,
    IGNORED,
    STOP,
    Action,
    BotMessage,
    InvalidMessage,
    decode_text,
    mark_of,
)
from streams.bots.protocols.protocol import Position, StreamName, sides
from streams.stream.audio import AudioFormat, linear


class _Message(Struct):
    """Any text of a bot; unknown fields are ignored."""

    event: str
    name: str | None = None
    action: msgspec.Raw = msgspec.Raw()


_DECODER = msgspec.json.Decoder(_Message)


class NativeProtocol:
    """The protocol of one stream."""

    subprotocol: ClassVar[str] = "switchroom"
    is_binary: ClassVar[bool] = True
    cleared: ClassVar[bytes] = b""

    def __init__(self, stream: StreamName) -> None:
        self.audio_format: AudioFormat = linear(stream.setup.bot.rate)
        self._stream = stream

    def greeting(self) -> list[bytes]:
        """See BotProtocol."""
        setup = self._stream.setup
        start = {
            "event": "start",
            "stream": self._stream.id,
            "account": setup.account,
            "call": setup.call_id,
            "track": setup.track,
            "rate": setup.bot.rate,
            "parameters": setup.parameters,
            **sides(setup),
        }
        return [msgspec.json.encode(start)]

    def audio(self, frame: bytes, at_ms: int) -> bytes:  # noqa: ARG002 - the frames count it
        """See BotProtocol."""
        return frame

    def read_text(self, data: bytes) -> BotMessage:
        """See BotProtocol."""
        message = decode_text(_DECODER, data)
        match message.event:
            case "clear":
                return CLEAR
            case "mark" if message.name is not None:
                return mark_of(message.name)
            case "stop":
                return STOP
            case "switchroom" if tree := bytes(message.action):
                return Action(tree)
            case "mark" | "switchroom":
                raise InvalidMessage(f"`{message.event}` without what belongs to it")
            case _:
                return IGNORED

    def read_binary(self, data: bytes) -> BotMessage:
        """See BotProtocol."""
        return data

    def mark(self, name: str, position: Position, *, is_cleared: bool) -> bytes:
        """See BotProtocol."""
        return _text("mark", position, name=name, isCleared=is_cleared)

    def digit(self, digit: str, position: Position) -> bytes:
        """See BotProtocol."""
        return _text("dtmf", position, digit=digit)

    def extension(self, fields: dict[str, Any], position: Position) -> bytes:
        """See BotProtocol."""
        return _text("switchroom", position, **fields)

    def farewell(self, position: Position) -> bytes:
        """See BotProtocol."""
        return _text("stop", position)


def _text(event: str, position: Position, **fields: Any) -> bytes:
    end = {"heardMs": position.heard_ms, "atMs": position.at_ms}
    return msgspec.json.encode({"event": event, **fields, **end})
