"""`switchroom call show`, `mute`, `hold`, `dial` and `hangup`; `recording start` and so on."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from cli import call_view
from cli.calls import change_call, fields_of, get_call
from cli.command import rest_command
from cli.errors import UsageError
from cli.options.call_parts import CallId, ChannelName, leg_of
from cli.output import Shown, shown
from cli.rest_client import RestClient
from wire.control import DialedLeg

Direction = Annotated[
    Literal["in", "out", "both"], Parameter(help="in: mute its audio; out: mute what it hears.")
]


@rest_command
async def show(rest: RestClient, call_id: CallId) -> Shown:
    """Show a call with its legs, transfers, conferences and recordings.

    Example: switchroom call show 3-pbx1-7f3a
    """
    view = await get_call(rest, call_id)
    return shown(fields_of(view), *call_view.call(view))


@rest_command
async def mute(
    rest: RestClient, call_id: CallId, channel: ChannelName, *, direction: Direction = "in"
) -> Shown:
    """Mute a leg of a call.

    Example: switchroom call mute 3-pbx1-7f3a main --direction both
    """
    return await _on_leg(rest, call_id, channel, "mute", {"direction": direction})


@rest_command
async def unmute(rest: RestClient, call_id: CallId, channel: ChannelName) -> Shown:
    """Unmute a leg in both directions.

    Example: switchroom call unmute 3-pbx1-7f3a main
    """
    return await _on_leg(rest, call_id, channel, "unmute")


@rest_command
async def hold(rest: RestClient, call_id: CallId, channel: ChannelName) -> Shown:
    """Put a leg on hold with music; the others stay connected.

    Example: switchroom call hold 3-pbx1-7f3a 1001
    """
    return await _on_leg(rest, call_id, channel, "hold")


@rest_command
async def unhold(rest: RestClient, call_id: CallId, channel: ChannelName) -> Shown:
    """Take a leg off hold.

    Example: switchroom call unhold 3-pbx1-7f3a 1001
    """
    return await _on_leg(rest, call_id, channel, "unhold")


@rest_command
async def dial(
    rest: RestClient,
    call_id: CallId,
    party: Annotated[str, Parameter(help="Number, agent:1001 or sip: address.")],
    *,
    caller_id: Annotated[str, Parameter(help="Caller id to show.")] = "",
    timeout: Annotated[float, Parameter(help="Ring timeout in seconds.")] = 60,  # noqa: ASYNC109 - the option
) -> Shown:
    """Dial another party into a call.

    Example: switchroom call dial 3-pbx1-7f3a +4722222222 --timeout 30
    """
    body: dict[str, Any] = {"callId": call_id, "target": party, "timeout": timeout}
    if caller_id:
        body["callerId"] = caller_id
    dialed = await rest.request(DialedLeg, "POST", "voice", "dial", body=body)
    return shown(dialed, f"dialing {party}: channel {dialed.channel_id}")


@rest_command
async def hangup(
    rest: RestClient,
    call_id: CallId,
    *,
    channel: ChannelName | None = None,
    agent: Annotated[str | None, Parameter(help="Agent id.")] = None,
) -> Shown:
    """Hang up a call, or only the leg of --channel or --agent.

    Example: switchroom call hangup 3-pbx1-7f3a --agent 1001
    """
    if channel is not None and agent is not None:
        raise UsageError("--channel and --agent exclude each other")
    text, body = f"hanging up call {call_id}", {}
    if (name := agent if channel is None else channel) is not None:
        leg = leg_of(await get_call(rest, call_id), name).channel_id
        text, body = f"hanging up channel {leg}", {"channelId": leg}
    view = await change_call(rest, call_id, "hangup", body)
    return shown(fields_of(view), text)


async def _on_leg(
    rest: RestClient, call_id: str, name: str, action: str, more: Mapping[str, str] | None = None
) -> Shown:
    leg = leg_of(await get_call(rest, call_id), name)
    body = {"channelId": leg.channel_id, **(more or {})}
    view = await change_call(rest, call_id, action, body)
    return shown(fields_of(view), call_view.legs(view))
