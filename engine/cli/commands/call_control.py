"""`switchroom mute`, `hold`, `dial`, `hangup` and `record`: control of the legs of a call."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from engine.cli import call_view
from engine.cli.client import Client
from engine.cli.command import client_command
from engine.cli.errors import UsageError
from engine.cli.options.channel_names import CallId, ChannelName, leg_of
from wire.control import DialedLeg
from wire.views import CallRecordings, CallView

Direction = Annotated[
    Literal["in", "out", "both"], Parameter(help="in: mute its audio; out: mute what it hears.")
]

_NO_RECORDING = "no recording yet: the call is not answered"


@client_command
async def show(client: Client, call_id: CallId) -> None:
    """Show a call with its legs, transfers, conferences and recordings."""
    call_view.write(*call_view.call(await client.call(call_id)))


@client_command
async def mute(
    client: Client, call_id: CallId, channel: ChannelName, *, direction: Direction = "in"
) -> None:
    """Mute a leg of a call."""
    await _on_leg(client, call_id, channel, "mute", {"direction": direction})


@client_command
async def unmute(client: Client, call_id: CallId, channel: ChannelName) -> None:
    """Unmute a leg in both directions."""
    await _on_leg(client, call_id, channel, "unmute")


@client_command
async def hold(client: Client, call_id: CallId, channel: ChannelName) -> None:
    """Put a leg on hold with music; the others stay connected."""
    await _on_leg(client, call_id, channel, "hold")


@client_command
async def unhold(client: Client, call_id: CallId, channel: ChannelName) -> None:
    """Take a leg off hold."""
    await _on_leg(client, call_id, channel, "unhold")


@client_command
async def dial(
    client: Client,
    call_id: CallId,
    party: Annotated[str, Parameter(help="Number, agent:1001 or sip: address.")],
    *,
    caller_id: Annotated[str, Parameter(help="Caller id to show.")] = "",
    timeout: Annotated[float, Parameter(help="Ring timeout in seconds.")] = 60,  # noqa: ASYNC109 - the option
) -> None:
    """Dial another party into a call."""
    body: dict[str, Any] = {"target": party, "timeout": timeout}
    if caller_id:
        body["callerId"] = caller_id
    dialed = await client.control(DialedLeg, call_id, "dial", body)
    call_view.write(f"dialing {party}: channel {dialed.channel_id}")


@client_command
async def hangup(
    client: Client,
    call_id: CallId,
    *,
    channel: ChannelName = "",
    agent: Annotated[str, Parameter(help="Agent id.")] = "",
) -> None:
    """Hang up a call, or only the leg of --channel or --agent."""
    if channel and agent:
        raise UsageError("--channel and --agent exclude each other")
    text, body = f"hanging up call {call_id}", {}
    if name := channel or agent:
        leg = leg_of(await client.call(call_id), name).channel_id
        text, body = f"hanging up channel {leg}", {"channelId": leg}
    await client.control(CallView, call_id, "hangup", body)
    call_view.write(text)


@client_command
async def record(
    client: Client,
    call_id: CallId,
    action: Annotated[
        Literal["start", "pause", "resume", "stop"],
        Parameter(name="ACTION", help="What to do with the recording."),
    ],
) -> None:
    """Start, pause, resume or stop the recording of a call."""
    view = await client.control(CallRecordings, call_id, f"recording/{action}", {})
    shown = map(call_view.recording, view.recordings)
    call_view.write(*(shown if view.recordings else [_NO_RECORDING]))


async def _on_leg(
    client: Client, call_id: str, name: str, action: str, more: Mapping[str, str] | None = None
) -> None:
    leg = leg_of(await client.call(call_id), name)
    body = {"channelId": leg.channel_id, **(more or {})}
    call_view.write(call_view.legs(await client.control(CallView, call_id, action, body)))
