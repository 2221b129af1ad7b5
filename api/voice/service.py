"""Calls made, shown and steered for an account: checked here, done by an engine.

Answers are the engine's own, as they came: what is another account's, it does not find.
"""

from typing import Any

import msgspec
from msgspec import Struct

from api.accounts.cache import AccountCache
from api.auth.service import Principal
from api.common.errors import NotFound
from api.engine_client import EngineClient, call_path
from api.voice.limits import CallLimits
from api.voice.permissions import Permissions
from api.voice.schemas import DialBody, LegBody, LegHangupBody, OriginateBody, Originated
from wire import control, rpc
from wire.custom_data import check_custom_data
from wire.tree import Limits, check_action, parse_action
from wire.verbs import Action
from wire.views import CallView


class VoiceService(Struct, frozen=True):
    """What can be done with calls."""

    engine: EngineClient
    known: AccountCache
    limits: CallLimits
    tree_limits: Limits

    async def originate(
        self, who: Principal, asked: OriginateBody, request_id: str | None
    ) -> bytes:
        """Make a call; with the same request id, the same one."""
        known = await self.known.get(who.account_id)
        rights = Permissions(known.numbers, known.account.destinations)
        body = _engines(who, asked, request_id, rights, self._tree(asked))
        self._check(body, rights)
        async with self.limits.admit(known.account):
            started = await self.engine.request(rpc.Started, "POST", "/calls", body)
        return msgspec.json.encode(Originated(started.call_id, started.call_id))

    async def permissions(self, who: Principal) -> Permissions:
        """Tell what an account may show and call."""
        known = await self.known.get(who.account_id)
        return Permissions(known.numbers, known.account.destinations)

    async def show(self, who: Principal, call_id: str) -> bytes:
        """Show a call, live or ended."""
        return await self.engine.request_raw("GET", call_path(call_id), query=_mine(who))

    async def active(self, who: Principal, call_id: str) -> bytes:
        """Show a live call."""
        answer = await self.show(who, call_id)
        if msgspec.json.decode(answer, type=CallView).ended_ms:
            raise NotFound(f"call {call_id} has ended", "call_ended")
        return answer

    async def on_leg(self, who: Principal, call_id: str, deed: str, asked: LegBody) -> bytes:
        """Mute, unmute, hold or unhold a leg; muted, nobody hears it."""
        body = control.LegControl(asked.channel_id, account=who.account_id)
        return await self._posted(call_id, f"/{deed}", body)

    async def dial(self, who: Principal, asked: DialBody) -> bytes:
        """Call a party into a call."""
        (await self.permissions(who)).check_party(asked.target, "target")
        body = control.DialInto(asked.target, account=who.account_id)
        return await self._posted(asked.call_id, "/dial", body)

    async def hangup(self, who: Principal, call_id: str, asked: LegHangupBody) -> bytes:
        """End a leg that is named, or the agent's own, or else the call."""
        agent = asked.agent_id or (None if asked.channel_id else who.agent_id)
        body = control.HangupCall(asked.channel_id, agent, account=who.account_id)
        return await self._posted(call_id, "/hangup", body)

    async def _posted(self, call_id: str, deed: str, body: Any) -> bytes:
        return await self.engine.request_raw("POST", call_path(call_id, deed), body)

    def _tree(self, asked: OriginateBody) -> Action | None:
        body = bytes(asked.action)
        return parse_action(body, self.tree_limits, "action") if body not in _NONE else None

    def _check(self, body: rpc.Originate, rights: Permissions) -> None:
        if body.from_first:
            rights.check_party(body.from_, "from")
        rights.check_party(body.to, "to")
        for action, path in ((body.action, "action"), (_on_machine(body), _ON_MACHINE)):
            if action is not None:
                check_action(action, self.tree_limits, path)
                rights.check_tree(action, path)
        check_custom_data(body.custom_data, "customData")
        check_custom_data(body.contact, "contact")


_NONE = (b"", b"null")
_ON_MACHINE = "machineDetection.onMachine"


def _mine(who: Principal) -> dict[str, str]:
    return {"account": who.account_id}


def _on_machine(body: rpc.Originate) -> Action | None:
    detection = body.machine_detection
    if isinstance(detection, bool) or detection.on_machine in {"continue", "hangup"}:
        return None
    return detection.on_machine


def _engines(
    who: Principal,
    asked: OriginateBody,
    request_id: str | None,
    rights: Permissions,
    action: Action | None,
) -> rpc.Originate:
    """Put it as the engine wants it: both click-to-call forms (design section 7)."""
    own = rights.own(asked.from_)
    return rpc.Originate(
        account=who.account_id,
        from_=own or asked.from_,
        to=asked.to,
        action=action,
        flow_id=asked.flow_id,
        from_first=own is None,
        caller_id=own or next(iter(rights.numbers), None),
        timeout=asked.timeout,
        custom_data=asked.custom_data,
        contact=asked.contact,
        request_id=request_id,
        machine_detection=asked.machine_detection,
        record_call=asked.record_call,
        status_callback_url=asked.status_callback_url,
        labels=labels_of(asked, from_first=own is None),
    )


def labels_of(asked: OriginateBody, *, from_first: bool) -> dict[str, str]:
    """Say which form a call has and which flow it runs, where its customData does not say it.

    `clientId` is the customer's alone, as a text of customData; without a flow, a call's path is
    its direction.
    """
    ours = {"obdType": "click-to-call" if from_first else "direct"}
    if asked.flow_id is not None:
        ours["callPath"] = f"flow:{asked.flow_id}"
    given = asked.custom_data or {}
    return {name: text for name, text in ours.items() if not isinstance(given.get(name), str)}
