"""What an engine sends to a stream gateway: a stream to set up, and messages to its bot.

`PUT /streams/{id}` sets a stream up, `PUT /streams/{id}/messages/{message}` sends to its bot; the
same id again changes nothing. `DELETE /streams/{id}` ends it, and forgets one that has ended.
"""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from wire.base import Shape, Text
from wire.streams.recognizer import Rate, RecognizerName, RecognizerStart

Protocol = Literal["twilio", "native", "vonage", "jambonz"]
Track = Literal["both", "caller", "bot"]  # whose voice is in it; `both` of a verb's: a conversation
BargeIn = Literal["off", "pause", "flush"]
MAX_PARAMETERS = 32
Parameters = Annotated[
    dict[str, Annotated[Text, Meta(max_length=500)]], Meta(max_length=MAX_PARAMETERS)
]


class Resume(Shape, frozen=True):
    """Where a stream left off that a gateway has lost: the bot continues from there."""

    of: str  # the lost stream
    heard_ms: int
    last_mark: str = ""


class BotAddress(Shape, frozen=True):
    """Where a bot listens, and what its handshake has.

    Without TLS only addresses in `networks` are called; they may be private, too. A recognizer has
    no URL: its gateway knows it.
    """

    url: str
    protocol: Protocol | Literal["recognizer"]
    rate: Rate = 8000
    headers: dict[str, str] = field(default_factory=dict)  # of the handshake: its signature
    networks: tuple[str, ...] = ()  # private ones that may be reached, such as 10.1.0.0/16
    denied: tuple[str, ...] = ()  # public ones that may not


class Recognition(Shape, frozen=True):
    """What a recognizer listens for, in the caller's audio of 8 kHz."""

    recognizer: RecognizerName
    start: RecognizerStart


class StreamSetup(Shape, frozen=True):
    """One stream: its PBX's end, its bot, and what the bot is sent when it starts."""

    media_url: str  # ws://pbx:8088/media/<id of the connection>
    bot: BotAddress
    account: str
    call_id: str
    from_: str = ""
    to: str = ""
    track: Track = "both"
    is_fork: bool = False  # the bot only listens
    barge_in: BargeIn = "off"
    parameters: Parameters = field(default_factory=dict)
    resume: Resume | None = None
    recognition: Recognition | None = None  # of a stream to a recognizer, which is a fork


class TextMessage(Shape, frozen=True, tag="text"):
    """A text for the bot, as a customer sent it."""

    text: Annotated[str, Meta(max_length=16_384)]


class DigitMessage(Shape, frozen=True, tag="digit"):
    """A digit that the caller pressed."""

    digit: Annotated[str, Meta(min_length=1, max_length=1)]


class ActionMessage(Shape, frozen=True, tag="action"):
    """What became of an action of the bot: `started`, `ended` with its result, or `rejected`.

    From `started` to `ended` the bot hears silence, and what it says is not heard.
    """

    state: Literal["started", "ended", "rejected"]
    error: str = ""
    result: dict[str, Any] = field(default_factory=dict)


StreamMessage = TextMessage | DigitMessage | ActionMessage


class Accepted(Struct, frozen=True):
    """The gateway's reply to a stream that it sets up."""

    stream: str
