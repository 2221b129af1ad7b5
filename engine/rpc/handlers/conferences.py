"""Conferences over RPC: members called in, put out, coached; looked at by call or by agent."""

from aiohttp import web

from engine.calls.model.call import Call
from engine.calls.model.requests import AddMemberRequested, CoachRequested, KickRequested
from engine.calls.model.sessions import Conference
from engine.rpc.handlers.dial_policy import authorize_dial
from engine.rpc.json_body import json_response, read_body
from engine.rpc.lookup import (
    call_of,
    check_legs,
    conference_of,
    conference_of_agent,
    last_conference,
    live_call_of,
    member_of,
    no_conference,
)
from engine.rpc.peers.fan_out import FanOut
from engine.rpc.request_mapping import member_request
from engine.rpc.views.sessions import conference_view
from engine.runtime.policy.dial_policy import DialPolicy
from engine.runtime.service import CallService
from wire.control import AddMember, Coach, ConferenceView, KickMember, LeaveConference
from wire.errors import BadInput
from wire.tree import Limits


class ConferenceHandlers:
    """One method a request."""

    def __init__(
        self, switch: CallService, limits: Limits, everyone: FanOut, terms: DialPolicy
    ) -> None:
        self._terms = terms
        self._everyone = everyone
        self._switch = switch
        self._limits = limits

    def routes(self) -> list[web.RouteDef]:
        """Say what is answered where."""
        return [
            web.post("/calls/{call}/conference/members", self.add),
            web.get("/calls/{call}/conference/members", self.members),
            web.post("/calls/{call}/conference/kick", self.kick),
            web.post("/calls/{call}/conference/leave", self.leave),
            web.post("/calls/{call}/conference/coach", self.coach),
            web.get("/agents/{account}/{agent}/conference", self.of_agent),
        ]

    async def add(self, request: web.Request) -> web.Response:
        """Call a member in; one who is there, or on the way, is not called again."""
        asked = await read_body(request, AddMember)
        event = member_request(asked, self._limits)
        call = await authorize_dial(
            self._terms, self._switch, request, asked.account, event.party, "targetExternalNumber"
        )
        check_legs(call, asked.source_channel_id, asked.customer_channel_id)
        if call.conference and _has(call.conference, event):
            return json_response(conference_view(call, call.conference))
        call = await self._switch.request(call.id, event)
        return json_response(conference_view(call, call.conferences[-1]))

    async def members(self, request: web.Request) -> web.Response:
        """Show the live conference, or the last, of a call that may have ended."""
        call = await call_of(self._switch, request, request.query.get("account"))
        return json_response(conference_view(call, last_conference(call)))

    async def kick(self, request: web.Request) -> web.Response:
        """Put a member out."""
        asked = await read_body(request, KickMember)
        if asked.target_agent_id is None and asked.target_channel_id is None:
            raise BadInput("targetChannelId", "one of targetAgentId or targetChannelId is required")
        call = await live_call_of(self._switch, request, asked.account)
        conference = conference_of(call, asked.conference_session_id)
        member = member_of(conference, asked.target_channel_id, asked.target_agent_id)
        event = KickRequested(conference.id, member.leg, asked.requester_agent_id)
        return _shown(await self._switch.request(call.id, event), conference.id)

    async def leave(self, request: web.Request) -> web.Response:
        """Let a member leave."""
        asked = await read_body(request, LeaveConference)
        call = await live_call_of(self._switch, request, asked.account)
        session = asked.conference_session_id
        event = KickRequested(session, asked.channel_id, asked.agent_id, is_leave=True)
        return _shown(await self._switch.request(call.id, event), session)

    async def coach(self, request: web.Request) -> web.Response:
        """Let a member be heard by one other only, or by all again."""
        asked = await read_body(request, Coach)
        call = await live_call_of(self._switch, request, asked.account)
        session = asked.conference_session_id
        event = CoachRequested(session, asked.channel_id, asked.coached_channel_id or "")
        return _shown(await self._switch.request(call.id, event), session)

    async def of_agent(self, request: web.Request) -> web.Response:
        """Show the live conference that an agent is in."""
        account, agent = request.match_info["account"], request.match_info["agent"]
        if found := conference_of_agent(self._switch, account, agent):
            return json_response(conference_view(*found))
        for shown in await self._everyone.collect(request, ConferenceView):
            return json_response(shown)
        raise no_conference(agent)


def _shown(call: Call, session: str) -> web.Response:
    return json_response(conference_view(call, conference_of(call, session)))


def _has(conference: Conference, asked: AddMemberRequested) -> bool:
    if asked.session not in {"", conference.id}:
        return False
    live = [each for each in conference.members if each.is_live]
    return any(
        each.party == asked.party or (asked.agent_id and each.agent_id == asked.agent_id)
        for each in live
    )
