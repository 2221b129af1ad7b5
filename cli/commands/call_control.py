"""`switchroom call show`, `mute`, `hold`, `dial` and `hangup`; `recording start` and so on."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from cli import call_view
from cli.calls import Calls, fields_of
from cli.command import call_command
from cli.errors import UsageError
from cli.options.channel_names import CallId, ChannelName, leg_of
from cli.output import Shown, shown
from wire.control import DialedLeg
from wire.views import CallView

Direction = Annotated[
    Literal["in", "out", "both"], Parameter(help="in: mute its audio; out: mute what it hears.")
]


@call_command
async def show(calls: Calls, call_id: CallId) -> Shown:
    """Show a call with its legs, transfers, conferences and recordings.

    Example: switchroom call show 3-pbx1-7f3a
    """
    view = await calls.call(call_id)
    return shown(fields_of(calls, view), *call_view.call(view))


@call_command
async def mute(
    calls: Calls, call_id: CallId, channel: ChannelName, *, direction: Direction = "in"
) -> Shown:
    """Mute a leg of a call.

    Example: switchroom call mute 3-pbx1-7f3a main --direction both
    """
    return await _on_leg(calls, call_id, channel, "mute", {"direction": direction})


@call_command
async def unmute(calls: Calls, call_id: CallId, channel: ChannelName) -> Shown:
    """Unmute a leg in both directions.

    Example: switchroom call unmute 3-pbx1-7f3a main
    """
    return await _on_leg(calls, call_id, channel, "unmute")


@call_command
async def hold(calls: Calls, call_id: CallId, channel: ChannelName) -> Shown:
    """Put a leg on hold with music; the others stay connected.

    Example: switchroom call hold 3-pbx1-7f3a 1001
    """
    return await _on_leg(calls, call_id, channel, "hold")


@call_command
async def unhold(calls: Calls, call_id: CallId, channel: ChannelName) -> Shown:
    """Take a leg off hold.

    Example: switchroom call unhold 3-pbx1-7f3a 1001
    """
    return await _on_leg(calls, call_id, channel, "unhold")


@call_command
async def dial(
    calls: Calls,
    call_id: CallId,
    party: Annotated[str, Parameter(help="Number, agent:1001 or sip: address.")],
    *,
    caller_id: Annotated[str, Parameter(help="Caller id to show.")] = "",
    timeout: Annotated[float, Parameter(help="Ring timeout in seconds.")] = 60,  # noqa: ASYNC109 - the option
) -> Shown:
    """Dial another party into a call.

    Example: switchroom call dial 3-pbx1-7f3a +4722222222 --timeout 30
    """
    body: dict[str, Any] = {"target": party, "timeout": timeout}
    if caller_id:
        body["callerId"] = caller_id
    dialed = await calls.control(DialedLeg, call_id, "dial", body)
    return shown(dialed, f"dialing {party}: channel {dialed.channel_id}")


@call_command
async def hangup(
    calls: Calls,
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
        leg = leg_of(await calls.call(call_id), name).channel_id
        text, body = f"hanging up channel {leg}", {"channelId": leg}
    view = await calls.control(CallView, call_id, "hangup", body)
    return shown(fields_of(calls, view), text)


async def _on_leg(
    calls: Calls, call_id: str, name: str, action: str, more: Mapping[str, str] | None = None
) -> Shown:
    leg = leg_of(await calls.call(call_id), name)
    body = {"channelId": leg.channel_id, **(more or {})}
    view = await calls.control(CallView, call_id, action, body)
    return shown(fields_of(calls, view), call_view.legs(view))
