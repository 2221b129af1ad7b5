"""`switchroom conference`: members of a call's conference called in, put out, coached, listed."""

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

conference = App(name="conference", help="Make a conference of a call, and steer it.")


@conference.command
def add(
    call_id: str,
    *,
    whom: PartyOptions = NO_PARTY,
    by: Requester = DEFAULT_REQUESTER,
    where: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """Call an agent or a number in; the first makes a conference of the conversation."""
    run(_add(call_id, whom, by, where))


@conference.command
def kick(
    call_id: str,
    member: ChannelName,
    *,
    by: Requester = DEFAULT_REQUESTER,
    where: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """Put a member out."""
    run(_steer(call_id, member, "kick", by, where))


@conference.command
def leave(
    call_id: str, member: ChannelName, *, where: ConnectionOptions = DEFAULT_CONNECTION
) -> None:
    """Let a member leave, as if by its own wish."""
    run(_steer(call_id, member, "leave", "", where))


@conference.command
def coach(
    call_id: str,
    member: ChannelName,
    coached: Annotated[str, Parameter(help="Who alone is to hear it; none: all again.")] = "",
    *,
    where: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """Let a member be heard by one other alone, or by all again."""
    run(_coach(call_id, member, coached, where))


@conference.command
def members(call_id: str, *, where: ConnectionOptions = DEFAULT_CONNECTION) -> None:
    """List the members of the live conference or the last, those who have left among them."""
    run(_members(call_id, where))


async def _add(call_id: str, whom: PartyOptions, by: str, where: ConnectionOptions) -> None:
    body = {"requestedByAgentId": by, **whom.member(), **whom.ringing()}
    async with open_client(*engine_address(where, ClientSettings())) as client:
        view = await client.control(ConferenceView, call_id, "conference/members", body)
    call_view.write(*call_view.conference(view))


async def _steer(call_id: str, named: str, deed: str, by: str, where: ConnectionOptions) -> None:
    async with open_client(*engine_address(where, ClientSettings())) as client:
        call = await client.call(call_id)
        member = member_of(call, named)
        asked: dict[str, Any] = (
            {"requesterAgentId": by, "targetChannelId": member.channel_id}
            if deed == "kick"
            else {"agentId": member.agent_id or DEFAULT_REQUESTER, "channelId": member.channel_id}
        )
        asked["conferenceSessionId"] = conference_of(call).conference_session_id
        view = await client.control(ConferenceView, call_id, f"conference/{deed}", asked)
    call_view.write(*call_view.conference(view))


async def _coach(call_id: str, named: str, coached: str, where: ConnectionOptions) -> None:
    async with open_client(*engine_address(where, ClientSettings())) as client:
        call = await client.call(call_id)
        asked = _coaching(call, named, coached)
        view = await client.control(ConferenceView, call_id, "conference/coach", asked)
    call_view.write(*call_view.conference(view))


def _coaching(call: CallView, named: str, coached: str) -> dict[str, Any]:
    asked = {
        "conferenceSessionId": conference_of(call).conference_session_id,
        "channelId": member_of(call, named).channel_id,
    }
    return asked | ({"coachedChannelId": member_of(call, coached).channel_id} if coached else {})


async def _members(call_id: str, where: ConnectionOptions) -> None:
    async with open_client(*engine_address(where, ClientSettings())) as client:
        call_view.write(*call_view.conference(await client.conference(call_id)))
