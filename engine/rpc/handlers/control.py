"""RPC operations on the legs of a live call: mute, hold, dial and hang up."""

from aiohttp import web
from msgspec import Struct
from msgspec.structs import replace

from engine.calls.model.call import full_party
from engine.calls.model.requests import (
    ControlRequest,
    DialRequested,
    HoldRequested,
    LegHangupRequested,
    MuteRequested,
)
from engine.rpc.agent_checks import check_agent_exists
from engine.rpc.handlers.dial_policy import authorize_dial
from engine.rpc.lookup import leg_of, live_call_of, ringing_leg
from engine.rpc.views.calls import call_view
from engine.runtime.agents.agent_presence import AgentPresence
from engine.runtime.call_service import CallService
from engine.runtime.policy.dial_policy import DialPolicy
from wire import control
from wire.decoding.errors import BadInput
from wire.party import ENDPOINT_PREFIX, Party
from wire.tree import Limits, check_party
from wire.views import CallView


class ControlHandlers(Struct, frozen=True):
    service: CallService
    limits: Limits
    dial_policy: DialPolicy
    agents: AgentPresence

    async def mute(self, request: web.Request, body: control.MuteLeg) -> CallView:
        event = MuteRequested(body.channel_id, body.direction)
        return await self._request(request, body.account, event)

    async def unmute(self, request: web.Request, body: control.LegControl) -> CallView:
        return await self._request(request, body.account, MuteRequested(body.channel_id, ""))

    async def hold(self, request: web.Request, body: control.LegControl) -> CallView:
        return await self._request(request, body.account, HoldRequested(body.channel_id, True))

    async def unhold(self, request: web.Request, body: control.LegControl) -> CallView:
        return await self._request(request, body.account, HoldRequested(body.channel_id, False))

    async def dial(self, request: web.Request, body: control.DialInto) -> control.DialedLeg:
        """Dial a party into the call; return its leg, which may be ringing already."""
        call = await live_call_of(self.service, request, body.account)
        party = await self._party(call.account, body.target)
        check_party(party, self.limits, "target")
        await check_agent_exists(self.agents, call.account, party, "target")
        call = await authorize_dial(
            self.dial_policy, self.service, request, body.account, party, "target"
        )
        party = full_party(call, party)
        if ringing := ringing_leg(call, party):
            return control.DialedLeg(call.id, ringing)
        event = DialRequested(party, body.timeout, body.caller_id or "")
        call = await self.service.request(call.id, event)
        return control.DialedLeg(call.id, call.legs[-1].id)  # the newest leg is last

    async def _party(self, account: str, target: str) -> str:
        """Return the party of a target, which may be an agent's endpoint; raises BadInput."""
        if not target.startswith(ENDPOINT_PREFIX):
            return target
        agent = await self.agents.directory.agent_of(account, target)
        if not agent.agent_id:
            raise BadInput("target", f"no agent of this account has {target}", "unknown_endpoint")
        return str(Party.agent(agent.agent_id))

    async def hangup(self, request: web.Request, body: control.HangupCall) -> CallView:
        """Hang up the leg of a channel or agent, or the whole call if none is named."""
        call = await live_call_of(self.service, request, body.account)
        leg = body.channel_id or (leg_of(call, body.agent_id) if body.agent_id else None)
        if leg is not None:
            return call_view(await self.service.request(call.id, LegHangupRequested(leg)))
        await self.service.hang_up(call.id, "api")
        return replace(call_view(call), state="ending")

    async def _request(
        self, request: web.Request, account: str | None, event: ControlRequest
    ) -> CallView:
        call = await live_call_of(self.service, request, account)
        return call_view(await self.service.request(call.id, event))
