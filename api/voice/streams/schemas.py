"""Request bodies for the streams of live calls."""

from typing import Annotated

from msgspec import Meta

from api.voice.schemas import VoiceRequest
from wire.base import Seconds
from wire.streams.recognizer import Rate
from wire.streams.setup import Parameters, Protocol, Track
from wire.verbs import StreamLoss, StreamUrl


class StreamRequest(VoiceRequest, frozen=True, kw_only=True):
    """A bot that listens to a live call; the same request again starts no other stream."""

    url: StreamUrl
    protocol: Protocol = "twilio"
    rate: Rate = 8000
    track: Track = "both"
    parameters: Parameters | None = None
    max_duration: Seconds | None = None
    on_lost: StreamLoss = "retry"


class StreamTextRequest(VoiceRequest, frozen=True, kw_only=True):
    """A text for the bot of a stream."""

    text: Annotated[str, Meta(min_length=1, max_length=16_384)]


class StreamStopRequest(VoiceRequest, frozen=True, kw_only=True):
    """Nothing."""
