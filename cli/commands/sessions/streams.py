"""`switchroom stream`: lists and stops a call's streams, lets bots listen, sends texts to bots."""

from dataclasses import dataclass
from typing import Annotated, Any

from cyclopts import App, Parameter

from cli import call_view
from cli.calls import get_streams
from cli.command import rest_command
from cli.help import with_example
from cli.options import parsing
from cli.options.call_parts import CallId, stream_of
from cli.output import Shown, shown
from cli.rest_client import RestClient
from wire.streams.recognizer import Rate
from wire.streams.setup import Protocol, Track
from wire.verbs import StreamLoss
from wire.views import CallStreams

BotUrl = Annotated[str, Parameter(name="URL", help="Address of the bot: `wss://`.")]
StreamName = Annotated[
    str, Parameter(name="STREAM", help="Stream: its id or the end of that, or the bot's host.")
]
BotText = Annotated[str, Parameter(name="TEXT", help="Text for the bot.")]

stream = App(
    name="stream",
    help=with_example(
        "List and stop the streams of a call; let bots listen, and send them texts.",
        "stream list 3-pbx1-7f3a",
    ),
)


@Parameter(name="*")
@dataclass(frozen=True)
class BotOptions:
    """What the bot hears, and how it is connected; the server has the defaults."""

    protocol: Annotated[Protocol | None, Parameter(help="Protocol that the bot speaks.")] = None
    rate: Annotated[Rate | None, Parameter(help="Samples per second of the audio.")] = None
    track: Annotated[Track | None, Parameter(help="Whose voice the bot hears.")] = None
    parameters: Annotated[
        str | None, Parameter(help="JSON or @file with texts that the bot gets.")
    ] = None
    max_duration: Annotated[float | None, Parameter(help="Longest time in seconds.")] = None
    on_lost: Annotated[StreamLoss | None, Parameter(help="What follows when the bot is lost.")] = (
        None
    )

    def body(self) -> dict[str, Any]:
        """Return the fields that are given; raises UsageError."""
        texts = self.parameters
        fields = {
            "protocol": self.protocol,
            "rate": self.rate,
            "track": self.track,
            "parameters": None if texts is None else parsing.mapping(texts, "--parameters"),
            "maxDuration": self.max_duration,
            "onLost": self.on_lost,
        }
        return {name: value for name, value in fields.items() if value is not None}


NO_OPTIONS = BotOptions()


@stream.command(name="list")
@rest_command
async def list_(rest: RestClient, call_id: CallId) -> Shown:
    """List the live streams of a call: the bot that talks with the caller, and forks.

    Example: switchroom stream list 3-pbx1-7f3a
    """
    return _shown(await get_streams(rest, call_id))


@stream.command
@rest_command
async def start(
    rest: RestClient, call_id: CallId, url: BotUrl, *, options: BotOptions = NO_OPTIONS
) -> Shown:
    """Let a bot listen to a call; the same command again starts no other stream.

    Example: switchroom stream start 3-pbx1-7f3a wss://bot.example.com/listen --track caller
    """
    body = {"url": url, **options.body()}
    return await _post(rest, call_id, "start", body=body)


@stream.command
@rest_command
async def stop(rest: RestClient, call_id: CallId, stream_name: StreamName) -> Shown:
    """Stop a stream; the tree of a call that talks with a bot continues.

    Example: switchroom stream stop 3-pbx1-7f3a bot.example.com
    """
    return await _control(rest, call_id, stream_name, "stop", {})


@stream.command
@rest_command
async def send(rest: RestClient, call_id: CallId, stream_name: StreamName, text: BotText) -> Shown:
    """Send a text to the bot of a stream, as a message of its protocol.

    Example: switchroom stream send 3-pbx1-7f3a bot.example.com "the customer is number 4711"
    """
    return await _control(rest, call_id, stream_name, "text", {"text": text})


async def _control(
    rest: RestClient, call_id: str, name: str, action: str, body: dict[str, str]
) -> Shown:
    found = stream_of(await get_streams(rest, call_id), name).stream_id
    return await _post(rest, call_id, found, action, body=body)


async def _post(rest: RestClient, *path: str, body: dict[str, Any]) -> Shown:
    return _shown(await rest.request(CallStreams, "POST", "voice", "streams", *path, body=body))


def _shown(view: CallStreams) -> Shown:
    return shown(view, call_view.streams(view))
