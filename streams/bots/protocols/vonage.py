"""Vonage's websockets: binary audio of 16 bits, and few texts."""

from typing import Any, ClassVar

import msgspec
from msgspec import Struct

from streams.bots.protocols.messages import (
    CLEAR,
    IGNORED,
    Action,
    BotMessage,
    InvalidMessage,
    decode_text,
    mark_of,
)
from streams.bots.protocols.protocol import Position, StreamName, sides
from streams.stream.audio import AudioFormat, linear

_DIGIT_MS = 260  # that of its documentation; a digit is passed on when it begins


class _Message(Struct):
    """Any text of a bot; unknown fields are ignored."""

    action: msgspec.Raw = msgspec.Raw()  # a name, or a tree of ours
    event: str = ""
    payload: msgspec.Raw = msgspec.Raw()


_DECODER = msgspec.json.Decoder(_Message)


class VonageProtocol:
    """The protocol of one stream; its marks are the payloads of `notify`."""

    subprotocol: ClassVar[str] = ""
    is_binary: ClassVar[bool] = True
    cleared: ClassVar[bytes] = b'{"event":"websocket:cleared"}'

    def __init__(self, stream: StreamName) -> None:
        self.audio_format: AudioFormat = linear(stream.setup.bot.rate)
        self._stream = stream

    def greeting(self) -> list[bytes]:
        """See BotProtocol: the parameters are fields, as Vonage's headers are."""
        setup = self._stream.setup
        own = {
            "event": "websocket:connected",
            "content-type": f"audio/l16;rate={setup.bot.rate}",
            "switchroom": {
                "stream": self._stream.id,
                "account": setup.account,
                "call": setup.call_id,
                **sides(setup),
            },
        }
        return [msgspec.json.encode({**setup.parameters, **own})]

    def audio(self, frame: bytes, at_ms: int) -> bytes:  # noqa: ARG002 - no place for it
        """See BotProtocol."""
        return frame

    def read_text(self, data: bytes) -> BotMessage:
        """See BotProtocol."""
        message = decode_text(_DECODER, data)
        action = bytes(message.action)
        if message.event == "switchroom" and action:
            return Action(action)
        match action:
            case b'"clear"':
                return CLEAR
            case b'"notify"' if payload := bytes(message.payload):
                return mark_of(payload.decode())
            case b'"notify"':
                raise InvalidMessage("`notify` without its payload")
            case _:
                return IGNORED

    def read_binary(self, data: bytes) -> BotMessage:
        """See BotProtocol."""
        return data

    def mark(self, name: str, position: Position, *, is_cleared: bool) -> bytes | None:  # noqa: ARG002 - no place for it
        """See BotProtocol: what was cleared has no notification."""
        if is_cleared:
            return None
        fields = {"event": "websocket:notify", "payload": msgspec.Raw(name.encode())}
        return msgspec.json.encode(fields)

    def digit(self, digit: str, position: Position) -> bytes:  # noqa: ARG002 - no place for it
        """See BotProtocol."""
        fields = {"event": "websocket:dtmf", "digit": digit, "duration": _DIGIT_MS}
        return msgspec.json.encode(fields)

    def extension(self, fields: dict[str, Any], position: Position) -> bytes:
        """See BotProtocol."""
        end = {"heardMs": position.heard_ms, "atMs": position.at_ms}
        return msgspec.json.encode({"event": "switchroom", **fields, **end})

    def farewell(self, position: Position) -> None:
        """See BotProtocol: it has none."""
