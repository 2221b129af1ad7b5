"""`switchroom mute`, `hold`, `dial`, `hangup` and `record`: control of the legs of a call."""

from typing import Annotated, Any, Literal

from cyclopts import Parameter

from engine.cli import call_view
from engine.cli.client import open_client
from engine.cli.errors import UsageError, run
from engine.cli.options.channel_names import ChannelName, leg_of
from engine.cli.options.connection import (
    DEFAULT_CONNECTION,
    ClientSettings,
    ConnectionOptions,
    engine_address,
)
from wire.control import DialedLeg
from wire.views import CallRecordings, CallView

Direction = Annotated[
    Literal["in", "out", "both"], Parameter(help="in: mute its audio; out: mute what it hears.")
]

_NO_RECORDING = "no recording yet: the call is not answered"


def show(call_id: str, *, connection: ConnectionOptions = DEFAULT_CONNECTION) -> None:
    """Show a call with its legs, transfers, conferences and recordings."""
    run(_show(call_id, connection))


def mute(
    call_id: str,
    channel: ChannelName,
    *,
    direction: Direction = "in",
    connection: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """Mute a leg of a call."""
    run(_on_leg(call_id, channel, "mute", {"direction": direction}, connection))


def unmute(
    call_id: str, channel: ChannelName, *, connection: ConnectionOptions = DEFAULT_CONNECTION
) -> None:
    """Unmute a leg in both directions."""
    run(_on_leg(call_id, channel, "unmute", {}, connection))


def hold(
    call_id: str, channel: ChannelName, *, connection: ConnectionOptions = DEFAULT_CONNECTION
) -> None:
    """Put a leg on hold with music; the others stay connected."""
    run(_on_leg(call_id, channel, "hold", {}, connection))


def unhold(
    call_id: str, channel: ChannelName, *, connection: ConnectionOptions = DEFAULT_CONNECTION
) -> None:
    """Take a leg off hold."""
    run(_on_leg(call_id, channel, "unhold", {}, connection))


def dial(
    call_id: str,
    party: Annotated[str, Parameter(help="Number, agent:1001 or sip: address.")],
    *,
    caller_id: Annotated[str, Parameter(help="Caller id to show.")] = "",
    timeout: Annotated[float, Parameter(help="Ring timeout in seconds.")] = 60,
    connection: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """Dial another party into a call."""
    body: dict[str, Any] = {"target": party, "timeout": timeout}
    run(_dial(call_id, body | ({"callerId": caller_id} if caller_id else {}), connection))


def hangup(
    call_id: str,
    *,
    channel: ChannelName = "",
    agent: Annotated[str, Parameter(help="Agent id.")] = "",
    connection: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """Hang up a call, or only the leg of --channel or --agent."""
    run(_hangup(call_id, channel, agent, connection))


def record(
    call_id: str,
    action: Annotated[Literal["start", "pause", "resume", "stop"], Parameter(name="ACTION")],
    *,
    connection: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """Start, pause, resume or stop the recording of a call."""
    run(_record(call_id, action, connection))


async def _show(call_id: str, connection: ConnectionOptions) -> None:
    async with open_client(*engine_address(connection, ClientSettings())) as client:
        call_view.write(*call_view.call(await client.call(call_id)))


async def _on_leg(
    call_id: str, name: str, action: str, more: dict[str, Any], connection: ConnectionOptions
) -> None:
    async with open_client(*engine_address(connection, ClientSettings())) as client:
        leg = leg_of(await client.call(call_id), name)
        body = {"channelId": leg.channel_id, **more}
        call_view.write(call_view.legs(await client.control(CallView, call_id, action, body)))


async def _dial(call_id: str, body: dict[str, Any], connection: ConnectionOptions) -> None:
    async with open_client(*engine_address(connection, ClientSettings())) as client:
        dialed = await client.control(DialedLeg, call_id, "dial", body)
    call_view.write(f"dialing {body['target']}: channel {dialed.channel_id}")


async def _hangup(call_id: str, channel: str, agent: str, connection: ConnectionOptions) -> None:
    if channel and agent:
        raise UsageError("--channel and --agent exclude each other")
    async with open_client(*engine_address(connection, ClientSettings())) as client:
        text, body = f"hanging up call {call_id}", {}
        if name := channel or agent:
            leg = leg_of(await client.call(call_id), name).channel_id
            text, body = f"hanging up channel {leg}", {"channelId": leg}
        await client.control(CallView, call_id, "hangup", body)
    call_view.write(text)


async def _record(call_id: str, action: str, connection: ConnectionOptions) -> None:
    async with open_client(*engine_address(connection, ClientSettings())) as client:
        view = await client.control(CallRecordings, call_id, f"recording/{action}", {})
    call_view.write(
        *map(call_view.recording, view.recordings) if view.recordings else [_NO_RECORDING]
    )
