"""`switchroom conference`: adds, kicks, coaches and lists the members of a conference."""

from typing import Annotated, Any

from cyclopts import App, Parameter

from engine.cli import call_view
from engine.cli.client import open_client
from engine.cli.errors import run
from engine.cli.options.channel_names import ChannelName, conference_of, member_of
from engine.cli.options.connection import (
    DEFAULT_CONNECTION,
    ClientSettings,
    ConnectionOptions,
    engine_address,
)
from engine.cli.options.party import DEFAULT_REQUESTER, NO_PARTY, PartyOptions, Requester
from wire.control import ConferenceView
from wire.views import CallView

conference = App(name="conference", help="Turn a call into a conference and manage its members.")


@conference.command
def add(
    call_id: str,
    *,
    party: PartyOptions = NO_PARTY,
    by: Requester = DEFAULT_REQUESTER,
    connection: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """Dial an agent or a number in; the first turns the call into a conference."""
    run(_add(call_id, party, by, connection))


@conference.command
def kick(
    call_id: str,
    member: ChannelName,
    *,
    by: Requester = DEFAULT_REQUESTER,
    connection: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """Remove a member."""
    run(_remove(call_id, member, "kick", by, connection))


@conference.command
def leave(
    call_id: str, member: ChannelName, *, connection: ConnectionOptions = DEFAULT_CONNECTION
) -> None:
    """Let a member leave by its own request."""
    run(_remove(call_id, member, "leave", "", connection))


@conference.command
def coach(
    call_id: str,
    member: ChannelName,
    coached: Annotated[str, Parameter(help="Member to coach; omit to stop coaching.")] = "",
    *,
    connection: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """Let a member coach another one, who alone hears it."""
    run(_coach(call_id, member, coached, connection))


@conference.command
def members(call_id: str, *, connection: ConnectionOptions = DEFAULT_CONNECTION) -> None:
    """List present and former members of the active or latest conference."""
    run(_members(call_id, connection))


async def _add(call_id: str, party: PartyOptions, by: str, connection: ConnectionOptions) -> None:
    body = {"requestedByAgentId": by, **party.member(), **party.ringing()}
    async with open_client(*engine_address(connection, ClientSettings())) as client:
        view = await client.control(ConferenceView, call_id, "conference/members", body)
    call_view.write(*call_view.conference(view))


async def _remove(
    call_id: str, name: str, action: str, by: str, connection: ConnectionOptions
) -> None:
    async with open_client(*engine_address(connection, ClientSettings())) as client:
        call = await client.call(call_id)
        member = member_of(call, name)
        body: dict[str, Any] = (
            {"requesterAgentId": by, "targetChannelId": member.channel_id}
            if action == "kick"
            else {"agentId": member.agent_id or DEFAULT_REQUESTER, "channelId": member.channel_id}
        )
        body["conferenceSessionId"] = conference_of(call).conference_session_id
        view = await client.control(ConferenceView, call_id, f"conference/{action}", body)
    call_view.write(*call_view.conference(view))


async def _coach(call_id: str, name: str, coached: str, connection: ConnectionOptions) -> None:
    async with open_client(*engine_address(connection, ClientSettings())) as client:
        call = await client.call(call_id)
        body = _coach_body(call, name, coached)
        view = await client.control(ConferenceView, call_id, "conference/coach", body)
    call_view.write(*call_view.conference(view))


def _coach_body(call: CallView, name: str, coached: str) -> dict[str, Any]:
    body = {
        "conferenceSessionId": conference_of(call).conference_session_id,
        "channelId": member_of(call, name).channel_id,
    }
    return body | ({"coachedChannelId": member_of(call, coached).channel_id} if coached else {})


async def _members(call_id: str, connection: ConnectionOptions) -> None:
    async with open_client(*engine_address(connection, ClientSettings())) as client:
        call_view.write(*call_view.conference(await client.conference(call_id)))
