"""Twilio's Media Streams: JSON in both directions, µ-law in base64."""

from binascii import b2a_base64
from hashlib import sha256
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
    decode_audio,
    decode_text,
    mark_of,
)
from streams.bots.protocols.protocol import Position, StreamName, sides
from streams.stream.audio import ULAW, AudioFormat
from wire.streams.setup import Track

# A format string costs a tenth of an encoder, and this is most of what a stream does.
_MEDIA = (
    b'{"event":"media","sequenceNumber":"%d","media":{"track":"%b","chunk":"%d",'
    b'"timestamp":"%d","payload":"%b"},"streamSid":"%b"}'
)
_TRACKS: dict[Track, str] = {"both": "inbound", "caller": "inbound", "bot": "outbound"}


class _Media(Struct):
    payload: str  # base64, which only an event `media` is worth


class _Mark(Struct):
    name: str


class _Message(Struct):
    """Any message of a bot; unknown fields are ignored."""

    event: str
    media: _Media | None = None
    mark: _Mark | None = None
    action: msgspec.Raw = msgspec.Raw()


_DECODER = msgspec.json.Decoder(_Message)


class TwilioProtocol:
    """The protocol of one stream."""

    subprotocol: ClassVar[str] = ""
    is_binary: ClassVar[bool] = False
    cleared: ClassVar[bytes] = b""

    def __init__(self, stream: StreamName) -> None:
        self.audio_format: AudioFormat = ULAW
        self._setup = stream.setup
        self._stream = stream.id
        self._sid = f"MZ{sha256(stream.id.encode()).hexdigest()[:32]}"
        self._raw_sid = self._sid.encode()
        self._track = _TRACKS[stream.setup.track]
        self._raw_track = self._track.encode()
        self._number = 0
        self._chunk = 0

    def greeting(self) -> list[bytes]:
        """See BotProtocol."""
        setup = self._setup
        start = {
            "streamSid": self._sid,
            "accountSid": setup.account,
            "callSid": setup.call_id,
            "tracks": [self._track],
            "customParameters": setup.parameters,
            "mediaFormat": {"encoding": "audio/x-mulaw", "sampleRate": 8000, "channels": 1},
            "switchroom": {"stream": self._stream, **sides(setup)},
        }
        connected = {"event": "connected", "protocol": "Call", "version": "1.0.0"}
        return [msgspec.json.encode(connected), self._text("start", start=start)]

    def audio(self, frame: bytes, at_ms: int) -> bytes:
        """See BotProtocol."""
        self._number += 1
        self._chunk += 1
        payload = b2a_base64(frame, newline=False)
        return _MEDIA % (
            self._number,
            self._raw_track,
            self._chunk,
            at_ms,
            payload,
            self._raw_sid,
        )

    def read_text(self, data: bytes) -> BotMessage:
        """See BotProtocol."""
        message = decode_text(_DECODER, data)
        match message.event:
            case "media" if message.media is not None:
                return decode_audio(message.media.payload)
            case "clear":
                return CLEAR
            case "mark" if message.mark is not None:
                return mark_of(message.mark.name)
            case "stop":
                return STOP
            case "switchroom" if tree := bytes(message.action):
                return Action(tree)
            case "media" | "mark" | "switchroom":
                raise InvalidMessage(f"`{message.event}` without what belongs to it")
            case _:
                return IGNORED

    def read_binary(self, data: bytes) -> BotMessage:
        """See BotProtocol."""
        raise InvalidMessage(f"a binary message of {len(data)} bytes; texts are expected")

    def mark(self, name: str, position: Position, *, is_cleared: bool) -> bytes:  # noqa: ARG002 - Twilio returns both alike
        """See BotProtocol."""
        return self._text("mark", mark={"name": name})

    def digit(self, digit: str, position: Position) -> bytes:  # noqa: ARG002 - no place for it
        """See BotProtocol."""
        return self._text("dtmf", dtmf={"track": "inbound_track", "digit": digit})

    def extension(self, fields: dict[str, Any], position: Position) -> bytes:
        """See BotProtocol."""
        return self._text("switchroom", **fields, heardMs=position.heard_ms, atMs=position.at_ms)

    def farewell(self, position: Position) -> bytes:  # noqa: ARG002 - no place for it
        """See BotProtocol."""
        ids = {"accountSid": self._setup.account, "callSid": self._setup.call_id}
        return self._text("stop", stop=ids)

    def _text(self, event: str, **fields: Any) -> bytes:
        self._number += 1
        head = {"event": event, "sequenceNumber": str(self._number), "streamSid": self._sid}
        return msgspec.json.encode(head | fields)
