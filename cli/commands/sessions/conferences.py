"""`switchroom conference`: adds, kicks, coaches and lists the members of a conference."""

from typing import Annotated, Any

from cyclopts import App, Parameter

from cli import call_view
from cli.calls import get_call
from cli.command import rest_command
from cli.errors import UsageError
from cli.help import with_example
from cli.options.call_parts import (
    DEFAULT_REQUESTER,
    NO_PARTY,
    CallId,
    PartyOptions,
    Requester,
    conference_of,
    member_of,
)
from cli.output import Shown, shown
from cli.rest_client import RestClient
from wire.control import ConferenceView
from wire.views import CallView

MemberName = Annotated[
    str, Parameter(help="Member: main, agent id, number, or end of the channel id.")
]
_OF_A_CONVERSATION = 2

conference = App(
    name="conference",
    help=with_example(
        "Turn a call into a conference and manage its members.", "conference members 3-pbx1-7f3a"
    ),
)


@conference.command
@rest_command
async def add(
    rest: RestClient,
    call_id: CallId,
    *,
    party: PartyOptions = NO_PARTY,
    by: Requester = DEFAULT_REQUESTER,
) -> Shown:
    """Dial an agent or a number in; the first turns the call into a conference.

    Example: switchroom conference add 3-pbx1-7f3a --agent 1002
    """
    body = {"requestedByAgentId": by, **party.member(), **party.ringing()}
    body |= _parties(await get_call(rest, call_id))
    return await _control(rest, call_id, "add-members", body)


@conference.command
@rest_command
async def kick(
    rest: RestClient, call_id: CallId, member: MemberName, *, by: Requester = DEFAULT_REQUESTER
) -> Shown:
    """Remove a member.

    Example: switchroom conference kick 3-pbx1-7f3a 1002
    """
    call = await get_call(rest, call_id)
    channel = member_of(call, member).channel_id
    body = {"requesterAgentId": by, "targetChannelId": channel}
    return await _control(rest, call_id, "kick", body | _session(call))


@conference.command
@rest_command
async def leave(rest: RestClient, call_id: CallId, member: MemberName) -> Shown:
    """Let a member leave by its own request.

    Example: switchroom conference leave 3-pbx1-7f3a 1002
    """
    call = await get_call(rest, call_id)
    found = member_of(call, member)
    body = {"agentId": found.agent_id or DEFAULT_REQUESTER, "channelId": found.channel_id}
    return await _control(rest, call_id, "leave", body | _session(call))


@conference.command
@rest_command
async def coach(
    rest: RestClient,
    call_id: CallId,
    member: MemberName,
    coached: Annotated[str, Parameter(help="Member to coach; omit to stop coaching.")] = "",
) -> Shown:
    """Let a member coach another one, who alone hears it.

    Example: switchroom conference coach 3-pbx1-7f3a 1003 1001
    """
    call = await get_call(rest, call_id)
    body = _session(call) | {"channelId": member_of(call, member).channel_id}
    if coached:
        body["coachedChannelId"] = member_of(call, coached).channel_id
    return await _control(rest, call_id, "coach", body)


@conference.command
@rest_command
async def members(rest: RestClient, call_id: CallId) -> Shown:
    """List present and former members of the active or latest conference.

    Example: switchroom conference members 3-pbx1-7f3a
    """
    return await _control(rest, call_id, "members", {})


async def _control(rest: RestClient, call_id: str, action: str, body: dict[str, Any]) -> Shown:
    path, of_call = ("voice", "conference", action), {"callId": call_id, **body}
    view = await rest.request(ConferenceView, "POST", *path, body=of_call)
    return shown(view, *call_view.conference(view))


def _session(call: CallView) -> dict[str, str]:
    return {"conferenceSessionId": conference_of(call).conference_session_id}


def _parties(call: CallView) -> dict[str, str]:
    """Return the customer and the source of a conversation, as the REST layer wants them.

    The source is an agent, or in a call of two others the party that was called last.
    """
    agents = [each for each in call.legs if each.agent_id]
    others = [each for each in call.legs if not each.agent_id]
    if agents and others:
        customer, source = others[0], agents[0]
    elif len(call.legs) == _OF_A_CONVERSATION:
        customer, source = call.legs
    else:
        raise UsageError(f"call {call.call_id} is no conversation of two parties")
    return {
        "customerChannelId": customer.channel_id,
        "sourceChannelId": source.channel_id,
        "sourceAgentId": source.agent_id or DEFAULT_REQUESTER,
    }
