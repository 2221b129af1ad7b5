"""Events of streams: what gateways report of bots and recognizers."""

from typing import Literal

from engine.calls.model.event_and_command_bases import StoredEvent
from wire.verbs import Action
from wire.webhooks import StreamEndReason


class StreamConnected(StoredEvent, frozen=True, tag="stream-connected"):
    """The bot has accepted a stream; `at_ms` is by the gateway's clock, here and below."""

    stream: str
    at_ms: int
    connect_ms: int


class StreamSpeechChanged(StoredEvent, frozen=True, tag="stream-speech-changed"):
    """The caller or the bot of a stream began or ceased to speak.

    `latency_ms`: from the end of the caller's speech to the bot's first audio.
    """

    stream: str
    by: Literal["caller", "bot"]
    is_speaking: bool
    at_ms: int
    heard_ms: int
    latency_ms: int | None = None


class StreamMarkReached(StoredEvent, frozen=True, tag="stream-mark-reached"):
    """The audio before one of the bot's marks was heard, or flushed."""

    stream: str
    name: str
    at_ms: int
    heard_ms: int
    is_cleared: bool = False


class StreamInterrupted(StoredEvent, frozen=True, tag="stream-interrupted"):
    """The caller made a sound while the bot spoke: its audio paused, resumed, or was flushed."""

    stream: str
    outcome: Literal["paused", "resumed", "flushed"]
    at_ms: int
    heard_ms: int


class SpeechUnderstood(StoredEvent, frozen=True, tag="speech-understood"):
    """What a recognizer understood of an utterance; an empty text: nothing.

    `is_voice` is whether a detector of voices heard one; else it was a cough or a noise.
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


class StreamActionReceived(StoredEvent, frozen=True, tag="stream-action-received"):
    """The bot of a stream wants an action to run; without one, `error` is why it may not."""

    stream: str
    action: Action | None
    at_ms: int
    heard_ms: int
    error: str = ""


class StreamEnded(StoredEvent, frozen=True, tag="stream-ended"):
    """A stream has ended, as its gateway reports, or could not start."""

    stream: str
    reason: StreamEndReason
    heard_ms: int = 0
    last_mark: str = ""
    detail: str = ""
    at_ms: int = 0


StreamEvent = (
    StreamConnected
    | StreamSpeechChanged
    | StreamMarkReached
    | StreamInterrupted
    | SpeechUnderstood
    | StreamActionReceived
    | StreamEnded
)
