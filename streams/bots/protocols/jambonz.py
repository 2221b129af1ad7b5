"""The websockets of jambonz' verb `listen`: binary audio of 16 bits, and JSON."""

from typing import Any, ClassVar

import msgspec
from msgspec import Struct, field

from streams.bots.protocols.messages import (
    CLEAR,
    IGNORED,
    STOP,
    Action,
    BotMessage,
    InvalidMessage,
    decode_audio,
    decode_text,
    mark_of,
)
from streams.bots.protocols.protocol import Position, StreamName, sides
from streams.stream.audio import AudioFormat, linear

_DIGIT_MS = "200"


class _Data(Struct):
    """What belongs to a message."""

    name: str | None = None
    content: str | None = field(default=None, name="audioContent")  # base64
    content_type: str = field(default="raw", name="audioContentType")
    rate: int | None = field(default=None, name="sampleRate")


class _Message(Struct):
    """Any text of a bot; unknown fields are ignored."""

    type: str = ""
    data: _Data | None = None
    event: str = ""
    action: msgspec.Raw = msgspec.Raw()


_DECODER = msgspec.json.Decoder(_Message, strict=False)


class JambonzProtocol:
    """The protocol of one stream."""

    subprotocol: ClassVar[str] = "audio.jambonz.org"
    is_binary: ClassVar[bool] = True
    cleared: ClassVar[bytes] = b""

    def __init__(self, stream: StreamName) -> None:
        self._rate = stream.setup.bot.rate
        self.audio_format: AudioFormat = linear(self._rate)
        self._stream = stream

    def greeting(self) -> list[bytes]:
        """See BotProtocol."""
        setup = self._stream.setup
        found = sides(setup)
        metadata = {
            "callSid": setup.call_id,
            "accountSid": setup.account,
            "from": found.pop("from"),
            "to": found.pop("to"),
            "sampleRate": self._rate,
            "mixType": "mono",
            "metadata": setup.parameters,
            "switchroom": {"stream": self._stream.id, **found},
        }
        return [msgspec.json.encode(metadata)]

    def audio(self, frame: bytes, at_ms: int) -> bytes:  # noqa: ARG002 - no place for it
        """See BotProtocol."""
        return frame

    def read_text(self, data: bytes) -> BotMessage:
        """See BotProtocol."""
        message = decode_text(_DECODER, data)
        if message.event == "switchroom" and (tree := bytes(message.action)):
            return Action(tree)
        match message:
            case _Message(type="killAudio"):
                return CLEAR
            case _Message(type="disconnect"):
                return STOP
            case _Message(type="mark", data=_Data(name=str(name))):
                return mark_of(name)
            case _Message(type="playAudio", data=_Data(content=str(content)) as audio):
                return self._audio(audio, content)
            case _Message(type="mark" | "playAudio"):
                raise InvalidMessage(f"`{message.type}` without what belongs to it")
            case _:
                return IGNORED

    def read_binary(self, data: bytes) -> BotMessage:
        """See BotProtocol."""
        return data

    def mark(self, name: str, position: Position, *, is_cleared: bool) -> bytes:  # noqa: ARG002 - no place for it
        """See BotProtocol."""
        event = "cleared" if is_cleared else "playout"
        return msgspec.json.encode({"type": "mark", "data": {"name": name, "event": event}})

    def digit(self, digit: str, position: Position) -> bytes:  # noqa: ARG002 - no place for it
        """See BotProtocol."""
        fields = {"event": "dtmf", "dtmf": digit, "duration": _DIGIT_MS}
        return msgspec.json.encode(fields)

    def extension(self, fields: dict[str, Any], position: Position) -> bytes:
        """See BotProtocol."""
        end = {"heardMs": position.heard_ms, "atMs": position.at_ms}
        return msgspec.json.encode({"event": "switchroom", **fields, **end})

    def farewell(self, position: Position) -> None:
        """See BotProtocol: it has none."""

    def _audio(self, audio: _Data, content: str) -> bytes:
        if audio.content_type != "raw":
            raise InvalidMessage(f"audio of the type {audio.content_type}; raw is played")
        if audio.rate not in (None, self._rate):
            raise InvalidMessage(f"audio of {audio.rate} Hz; this stream has {self._rate}")
        return decode_audio(content)
