"""What a stream gateway reports to engines, on a websocket at `/reports`.

Each engine gets all reports, beginning with a Snapshot; it ignores streams that are not its own.
Times are wall-clock milliseconds of the gateway; `heard_ms` is how much of the bot's audio was
heard so far.
"""

from typing import Any, Literal

from wire.base import Shape

EndReason = Literal[
    "bot-closed",  # it closed its websocket in the ordinary way, or sent its protocol's stop
    "bot-lost",  # its connection broke, or it closed with the code of an error
    "stopped",  # by a request, or with its call
    "unreachable",  # no connection, no TLS, or no response in time
    "address-refused",  # a private or denied address, or no TLS
    "no-websocket",  # an HTTP response other than 101: a page, a redirect, an error
    "invalid-message",  # not what its protocol says, repeatedly
    "too-large",  # a message above the limit
    "too-fast",  # far more messages or audio than the limit
    "slow-reader",  # it does not read what it is sent
    "pbx-lost",  # the PBX closed its end: the channel was hung up
    "pbx-unreachable",
    "drained",  # the gateway shuts down
]


class StreamConnected(Shape, frozen=True, tag="connected"):
    """The bot has accepted the stream, `connect_ms` after the gateway began to connect."""

    stream: str
    at_ms: int
    connect_ms: int


class SpeechChanged(Shape, frozen=True, tag="speech"):
    """The caller or the bot began or ceased to speak.

    `latency_ms` is from the end of the caller's speech to the bot's first audio.
    """

    stream: str
    by: Literal["caller", "bot"]
    is_speaking: bool
    at_ms: int
    heard_ms: int
    latency_ms: int | None = None


class MarkHeard(Shape, frozen=True, tag="mark"):
    """The audio before one of the bot's marks was heard; `is_cleared`: it was flushed instead."""

    stream: str
    name: str
    at_ms: int
    heard_ms: int
    is_cleared: bool = False


class BargedIn(Shape, frozen=True, tag="barge-in"):
    """The caller made a sound while the bot spoke; `paused` is followed by one of the others."""

    stream: str
    outcome: Literal["paused", "resumed", "flushed"]
    at_ms: int
    heard_ms: int


class ActionRequested(Shape, frozen=True, tag="action"):
    """The bot wants an action to run; `action` is a tree as it was sent, not checked."""

    stream: str
    at_ms: int
    heard_ms: int
    action: Any


class Transcribed(Shape, frozen=True, tag="transcript"):
    """What a recognizer understood of an utterance; an empty text: nothing.

    Between its SpeechChanged reports the caller spoke, or made a sound: `is_voice` is what the
    gateway's detector of voices says.
    """

    stream: str
    text: str
    confidence: float
    is_voice: bool
    at_ms: int

    @property
    def is_noise(self) -> bool:
        """Whether it was no voice, and nothing was understood."""
        return not self.is_voice and not self.text


class StreamEnded(Shape, frozen=True, tag="ended"):
    """A stream has ended; its PBX connection is closed only after this report was sent."""

    stream: str
    reason: EndReason
    at_ms: int
    duration_ms: int  # since the bot accepted it; 0: never
    heard_ms: int
    last_mark: str = ""
    detail: str = ""  # a text for people: the HTTP status, the error of TLS
    transcript: Transcribed | None = None  # as of a LiveStream
    http_status: int = 0  # of the bot's response, if it was no websocket's


class LiveStream(Shape, frozen=True):
    """A stream of the gateway."""

    stream: str
    is_connected: bool
    heard_ms: int
    last_mark: str = ""
    transcript: Transcribed | None = None  # a recognizer's last one, or last but noises


class Snapshot(Shape, frozen=True, tag="snapshot"):
    """All streams of a gateway: live ones, and those that have ended and are not deleted yet."""

    live: tuple[LiveStream, ...]
    ended: tuple[StreamEnded, ...]
    is_draining: bool = False


class DrainStarted(Shape, frozen=True, tag="draining"):
    """The gateway takes no more streams; those that it has continue."""


StreamReport = (
    StreamConnected
    | SpeechChanged
    | MarkHeard
    | BargedIn
    | ActionRequested
    | Transcribed
    | StreamEnded
)
Report = StreamReport | Snapshot | DrainStarted
