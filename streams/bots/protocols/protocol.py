"""The interface of a bot's protocol: what is sent to it, and what its messages mean."""

from typing import Any, ClassVar, Protocol

from msgspec import Struct

from streams.bots.protocols.messages import BotMessage
from streams.stream.audio import AudioFormat
from wire.streams.setup import StreamSetup


class Position(Struct, frozen=True):
    """Where a stream is: `heard_ms` of the bot's audio were heard, `at_ms` after its start."""

    heard_ms: int
    at_ms: int


class BotProtocol(Protocol):
    """One stream's protocol, with the numbers of its messages; texts are JSON."""

    subprotocol: ClassVar[str]  # of the handshake; empty: none
    is_binary: ClassVar[bool]  # audio is sent in binary frames
    cleared: ClassVar[bytes]  # the text that answers a bot's `clear`; empty: none but the marks
    audio_format: AudioFormat  # of the PBX's side, which is never converted

    def greeting(self) -> list[bytes]:
        """Return the texts that begin a stream."""

    def audio(self, frame: bytes, at_ms: int) -> bytes:
        """Return the message with a frame of the caller's."""

    def read_text(self, data: bytes) -> BotMessage:
        """Return what a text means; raises InvalidMessage."""

    def read_binary(self, data: bytes) -> BotMessage:
        """Return what a binary message means; raises InvalidMessage."""

    def mark(self, name: str, position: Position, *, is_cleared: bool) -> bytes | None:
        """Return the text that a mark was heard or cleared; None: the protocol has none."""

    def digit(self, digit: str, position: Position) -> bytes | None:
        """Return the text that the caller pressed a digit; None: the protocol has none."""

    def extension(self, fields: dict[str, Any], position: Position) -> bytes | None:
        """Return the text `{"event": "switchroom", …}` with more fields; None: there is none."""

    def farewell(self, position: Position) -> bytes | None:
        """Return the text that ends a stream, before the connection is closed."""


class StreamName(Struct, frozen=True):
    """What a protocol knows of its stream."""

    id: str
    setup: StreamSetup


def sides(setup: StreamSetup) -> dict[str, Any]:
    """Return the fields of a greeting that no other protocol has: who speaks, and what was lost."""
    found: dict[str, Any] = {"from": setup.from_, "to": setup.to}
    if setup.resume is not None:
        found["resume"] = {
            "of": setup.resume.of,
            "heardMs": setup.resume.heard_ms,
            "lastMark": setup.resume.last_mark,
        }
    return found
