"""Control of a live call's legs over RPC: mute, hold, call one more, hang up."""

from aiohttp import web
from msgspec.structs import replace

from engine.calls.model.requests import (
    ControlRequest,
    DialRequested,
    HoldRequested,
    LegHangupRequested,
    MuteRequested,
)
from engine.rpc.handlers.dial_policy import authorize_dial
from engine.rpc.json_body import json_response, read_body
from engine.rpc.lookup import leg_of, live_call_of, ringing_leg
from engine.rpc.views.calls import call_view
from engine.runtime.policy.dial_policy import DialPolicy
from engine.runtime.service import CallService
from wire import control
from wire.tree import Limits, check_party


class ControlHandlers:
    """One method a request."""

    def __init__(self, switch: CallService, limits: Limits, terms: DialPolicy) -> None:
        self._terms = terms
        self._switch = switch
        self._limits = limits

    def routes(self) -> list[web.RouteDef]:
        """Say what is answered where."""
        return [
            web.post("/calls/{call}/mute", self.mute),
            web.post("/calls/{call}/unmute", self.unmute),
            web.post("/calls/{call}/hold", self.hold),
            web.post("/calls/{call}/unhold", self.unhold),
            web.post("/calls/{call}/dial", self.dial),
            web.post("/calls/{call}/hangup", self.hangup),
        ]

    async def mute(self, request: web.Request) -> web.Response:
        """Mute a leg in a direction."""
        asked = await read_body(request, control.MuteLeg)
        return await self._steered(
            request, asked.account, MuteRequested(asked.channel_id, asked.direction)
        )

    async def unmute(self, request: web.Request) -> web.Response:
        """Let a leg be heard and hear again."""
        asked = await read_body(request, control.LegControl)
        return await self._steered(request, asked.account, MuteRequested(asked.channel_id, ""))

    async def hold(self, request: web.Request) -> web.Response:
        """Put a leg on hold."""
        asked = await read_body(request, control.LegControl)
        return await self._steered(request, asked.account, HoldRequested(asked.channel_id, True))

    async def unhold(self, request: web.Request) -> web.Response:
        """Take a leg off hold."""
        asked = await read_body(request, control.LegControl)
        return await self._steered(request, asked.account, HoldRequested(asked.channel_id, False))

    async def dial(self, request: web.Request) -> web.Response:
        """Call one more party into the call; tells the leg that it has, or has already."""
        asked = await read_body(request, control.DialInto)
        check_party(asked.target, self._limits, "target")
        call = await authorize_dial(
            self._terms, self._switch, request, asked.account, asked.target, "target"
        )
        if called := ringing_leg(call, asked.target):
            return json_response(control.DialedLeg(call.id, called))
        event = DialRequested(asked.target, asked.timeout, asked.caller_id or "")
        call = await self._switch.request(call.id, event)
        return json_response(control.DialedLeg(call.id, call.legs[-1].id))  # the newest leg is last

    async def hangup(self, request: web.Request) -> web.Response:
        """End one leg when a channel or an agent is named, else the call."""
        asked = await read_body(request, control.HangupCall)
        call = await live_call_of(self._switch, request, asked.account)
        leg = asked.channel_id or (leg_of(call, asked.agent_id) if asked.agent_id else None)
        if leg is not None:
            return json_response(
                call_view(await self._switch.request(call.id, LegHangupRequested(leg)))
            )
        await self._switch.hang_up(call.id, "api")
        return json_response(replace(call_view(call), state="ending"))

    async def _steered(
        self, request: web.Request, account: str | None, event: ControlRequest
    ) -> web.Response:
        call = await live_call_of(self._switch, request, account)
        return json_response(call_view(await self._switch.request(call.id, event)))
