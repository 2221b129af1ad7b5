"""RPC operations on conferences: add, kick and coach members; show by call or by agent."""

from aiohttp import web
from msgspec import Struct
from msgspec.structs import replace

from engine.calls.model.call import Call, full_party
from engine.calls.model.requests import AddMemberRequested, CoachRequested, KickRequested
from engine.calls.model.sessions import Conference
from engine.rpc.agent_checks import check_agent_exists
from engine.rpc.handlers.dial_policy import authorize_dial
from engine.rpc.lookup import (
    call_of,
    check_legs,
    check_pbx_address,
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
from engine.runtime.agents.agent_presence import AgentPresence
from engine.runtime.call_service import CallService
from engine.runtime.policy.dial_policy import DialPolicy
from wire.call_id_format import shard_of
from wire.control import AddMember, Coach, ConferenceView, KickMember, LeaveConference
from wire.decoding.errors import BadInput
from wire.shard import NO_SHARD
from wire.tree import Limits


class ConferenceHandlers(Struct, frozen=True):
    service: CallService
    limits: Limits
    fan_out: FanOut
    dial_policy: DialPolicy
    agents: AgentPresence

    async def add(self, request: web.Request, body: AddMember) -> ConferenceView:
        """Dial a member in; a member that is connected or ringing is not dialed again."""
        event = member_request(body, self.limits)
        account = (await live_call_of(self.service, request, body.account)).account
        await check_agent_exists(self.agents, account, event.party, "targetAgentIds[0]")
        call = await authorize_dial(
            self.dial_policy,
            self.service,
            request,
            body.account,
            event.party,
            "targetExternalNumber",
        )
        event = replace(event, party=full_party(call, event.party))
        check_legs(call, body.source_channel_id, body.customer_channel_id)
        if call.conference and _has_member(call.conference, event):
            return conference_view(call, call.conference)
        call = await self.service.request(call.id, event)
        return conference_view(call, call.conferences[-1])

    async def members(self, request: web.Request) -> ConferenceView:
        """Show the active or latest conference of a live or ended call."""
        call = await call_of(self.service, request, request.query.get("account"))
        return conference_view(call, last_conference(call))

    async def kick(self, request: web.Request, body: KickMember) -> ConferenceView:
        if body.target_agent_id is None and body.target_channel_id is None:
            raise BadInput("targetChannelId", "one of targetAgentId or targetChannelId is required")
        call = await live_call_of(self.service, request, body.account)
        conference = conference_of(call, body.conference_session_id)
        member = member_of(conference, body.target_channel_id, body.target_agent_id)
        event = KickRequested(conference.id, member.leg, body.requester_agent_id)
        return _view(await self.service.request(call.id, event), conference.id)

    async def leave(self, request: web.Request, body: LeaveConference) -> ConferenceView:
        call = await live_call_of(self.service, request, body.account)
        session = body.conference_session_id
        leg = call.leg(body.channel_id)
        if leg is not None and leg.agent not in {"", body.agent_id}:
            raise BadInput("agentId", f"channel {leg.id} is agent {leg.agent}'s", "other_agent")
        node = (shard_of(call.id) or NO_SHARD).node
        if body.pbx_ip is not None:
            await check_pbx_address(
                node, self.service.node_selection.status(node).host, body.pbx_ip
            )
        event = KickRequested(session, body.channel_id, body.agent_id, is_leave=True)
        return _view(await self.service.request(call.id, event), session)

    async def coach(self, request: web.Request, body: Coach) -> ConferenceView:
        """Make a member audible to one other member only, or to all again."""
        call = await live_call_of(self.service, request, body.account)
        session = body.conference_session_id
        event = CoachRequested(session, body.channel_id, body.coached_channel_id or "")
        return _view(await self.service.request(call.id, event), session)

    async def of_agent(self, request: web.Request) -> ConferenceView:
        """Show the active conference of an agent, on any engine."""
        account, agent = request.match_info["account"], request.match_info["agent"]
        if found := conference_of_agent(self.service, account, agent):
            return conference_view(*found)
        for view in await self.fan_out.collect(request, ConferenceView):
            return view
        raise no_conference(agent)


def _view(call: Call, session: str) -> ConferenceView:
    return conference_view(call, conference_of(call, session))


def _has_member(conference: Conference, request: AddMemberRequested) -> bool:
    if request.session not in {"", conference.id}:
        return False
    live = [each for each in conference.members if each.is_live]
    return any(
        each.party == request.party or (request.agent_id and each.agent_id == request.agent_id)
        for each in live
    )
