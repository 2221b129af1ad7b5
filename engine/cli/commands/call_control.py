"""`switchroom mute`, `hold`, `dial`, `hangup`, `record`: what people do to the legs of a call."""

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
    Literal["in", "out", "both"], Parameter(help="in: nobody hears it; out: it hears nobody.")
]

_NONE_YET = "nothing is recorded yet: the call is not answered"


def show(call_id: str, *, where: ConnectionOptions = DEFAULT_CONNECTION) -> None:
    """Show a call: its legs by channel, who is muted or on hold, transfers, conferences."""
    run(_show(call_id, where))


def mute(
    call_id: str,
    channel: ChannelName,
    *,
    direction: Direction = "in",
    where: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """Silence a leg of a call."""
    run(_on_leg(call_id, channel, "mute", {"direction": direction}, where))


def unmute(
    call_id: str, channel: ChannelName, *, where: ConnectionOptions = DEFAULT_CONNECTION
) -> None:
    """Let a leg be heard and hear again."""
    run(_on_leg(call_id, channel, "unmute", {}, where))


def hold(
    call_id: str, channel: ChannelName, *, where: ConnectionOptions = DEFAULT_CONNECTION
) -> None:
    """Put a leg on hold: it hears music, and the others talk on."""
    run(_on_leg(call_id, channel, "hold", {}, where))


def unhold(
    call_id: str, channel: ChannelName, *, where: ConnectionOptions = DEFAULT_CONNECTION
) -> None:
    """Take a leg off hold."""
    run(_on_leg(call_id, channel, "unhold", {}, where))


def dial(
    call_id: str,
    party: Annotated[str, Parameter(help="Number, agent:1001 or sip: engine_address.")],
    *,
    caller_id: Annotated[str, Parameter(help="Number to show.")] = "",
    timeout: Annotated[float, Parameter(help="Seconds to let it ring.")] = 60,
    where: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """Call one more party into a call."""
    body: dict[str, Any] = {"target": party, "timeout": timeout}
    run(_dial(call_id, body | ({"callerId": caller_id} if caller_id else {}), where))


def hangup(
    call_id: str,
    *,
    channel: ChannelName = "",
    agent: str = "",
    where: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """End a call, or with --channel or --agent that leg of it alone."""
    run(_hangup(call_id, channel, agent, where))


def record(
    call_id: str,
    wanted: Annotated[Literal["start", "pause", "resume", "stop"], Parameter(name="WANTED")],
    *,
    where: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """Start, pause, resume or stop the recording of a call."""
    run(_record(call_id, wanted, where))


async def _show(call_id: str, where: ConnectionOptions) -> None:
    async with open_client(*engine_address(where, ClientSettings())) as client:
        call_view.write(*call_view.call(await client.call(call_id)))


async def _on_leg(
    call_id: str, named: str, deed: str, more: dict[str, Any], where: ConnectionOptions
) -> None:
    async with open_client(*engine_address(where, ClientSettings())) as client:
        leg = leg_of(await client.call(call_id), named)
        body = {"channelId": leg.channel_id, **more}
        call_view.write(call_view.legs(await client.control(CallView, call_id, deed, body)))


async def _dial(call_id: str, body: dict[str, Any], where: ConnectionOptions) -> None:
    async with open_client(*engine_address(where, ClientSettings())) as client:
        made = await client.control(DialedLeg, call_id, "dial", body)
    call_view.write(f"{body['target']} is called: channel {made.channel_id}")


async def _hangup(call_id: str, channel: str, agent: str, where: ConnectionOptions) -> None:
    if channel and agent:
        raise UsageError("either --channel or --agent")
    async with open_client(*engine_address(where, ClientSettings())) as client:
        what, body = f"call {call_id} is told to end", {}
        if named := channel or agent:
            leg = leg_of(await client.call(call_id), named).channel_id
            what, body = f"channel {leg} is told to hang up", {"channelId": leg}
        await client.control(CallView, call_id, "hangup", body)
    call_view.write(what)


async def _record(call_id: str, wanted: str, where: ConnectionOptions) -> None:
    async with open_client(*engine_address(where, ClientSettings())) as client:
        kept = await client.control(CallRecordings, call_id, f"recording/{wanted}", {})
    call_view.write(*map(call_view.recording, kept.recordings) if kept.recordings else [_NONE_YET])
