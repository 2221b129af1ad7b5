"""Commands for stream gateways."""

from engine.calls.model.event_and_command_bases import StoredCommand
from wire.streams.setup import Recognition, Resume, StreamMessage
from wire.verbs import StreamData


class StartStream(StoredCommand, frozen=True, tag="start-stream"):
    """Create a stream's channel, and let a gateway connect it with the bot, or a recognizer.

    `wait_ms`: how long a gateway is waited for that takes it.
    """

    stream: str
    data: StreamData
    resume: Resume | None = None
    recognition: Recognition | None = None
    wait_ms: int = 0


class StopStream(StoredCommand, frozen=True, tag="stop-stream"):
    """Let the gateway end a stream, and hang up its channel."""

    stream: str


class SendToStream(StoredCommand, frozen=True, tag="send-to-stream"):
    """Send a message to the bot of a stream; the gateway ignores an id that it has had."""

    stream: str
    id: str
    message: StreamMessage


StreamCommand = StartStream | StopStream | SendToStream
