"""`switchroom conference`: adds, kicks, coaches and lists the members of a conference."""

from typing import Annotated, Any

from cyclopts import App, Parameter

from engine.cli import call_view
from engine.cli.client import Client
from engine.cli.command import client_command
from engine.cli.options.channel_names import CallId, conference_of, member_of
from engine.cli.options.party import DEFAULT_REQUESTER, NO_PARTY, PartyOptions, Requester
from wire.control import ConferenceView
from wire.views import CallView

MemberName = Annotated[
    str, Parameter(help="Member: main, agent id, number, or end of the channel id.")
]

conference = App(name="conference", help="Turn a call into a conference and manage its members.")


@conference.command
@client_command
async def add(
    client: Client,
    call_id: CallId,
    *,
    party: PartyOptions = NO_PARTY,
    by: Requester = DEFAULT_REQUESTER,
) -> None:
    """Dial an agent or a number in; the first turns the call into a conference."""
    body = {"requestedByAgentId": by, **party.member(), **party.ringing()}
    await _control(client, call_id, "members", body)


@conference.command
@client_command
async def kick(
    client: Client, call_id: CallId, member: MemberName, *, by: Requester = DEFAULT_REQUESTER
) -> None:
    """Remove a member."""
    call = await client.call(call_id)
    channel = member_of(call, member).channel_id
    body = {"requesterAgentId": by, "targetChannelId": channel}
    await _control(client, call_id, "kick", body | _session(call))


@conference.command
@client_command
async def leave(client: Client, call_id: CallId, member: MemberName) -> None:
    """Let a member leave by its own request."""
    call = await client.call(call_id)
    found = member_of(call, member)
    body = {"agentId": found.agent_id or DEFAULT_REQUESTER, "channelId": found.channel_id}
    await _control(client, call_id, "leave", body | _session(call))


@conference.command
@client_command
async def coach(
    client: Client,
    call_id: CallId,
    member: MemberName,
    coached: Annotated[str, Parameter(help="Member to coach; omit to stop coaching.")] = "",
) -> None:
    """Let a member coach another one, who alone hears it."""
    call = await client.call(call_id)
    body = _session(call) | {"channelId": member_of(call, member).channel_id}
    if coached:
        body["coachedChannelId"] = member_of(call, coached).channel_id
    await _control(client, call_id, "coach", body)


@conference.command
@client_command
async def members(client: Client, call_id: CallId) -> None:
    """List present and former members of the active or latest conference."""
    path = ("calls", call_id, "conference", "members")
    call_view.write(*call_view.conference(await client.request(ConferenceView, "GET", *path)))


async def _control(client: Client, call_id: str, action: str, body: dict[str, Any]) -> None:
    view = await client.control(ConferenceView, call_id, f"conference/{action}", body)
    call_view.write(*call_view.conference(view))


def _session(call: CallView) -> dict[str, str]:
    return {"conferenceSessionId": conference_of(call).conference_session_id}
