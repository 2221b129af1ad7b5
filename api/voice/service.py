"""Calls of an account: validated here, executed by an engine.

Responses are the engine's; another account's calls are not found.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct

from api.accounts.cache import AccountCache
from api.auth.principal import OPERATIONS, Principal
from api.common.errors import Forbidden, NotFound
from api.common.projection import project
from api.engine_client import EngineClient, call_path
from api.voice.limits import CallLimits
from api.voice.live_list import LiveCallQuery, list_live_calls
from api.voice.permissions import Permissions
from api.voice.replay import CallReplay, call_replay
from api.voice.schemas import (
    BaseHangupRequest,
    BaseLegRequest,
    BaseMuteRequest,
    DialRequest,
    OriginateRequest,
    OriginateResult,
    RecordingAction,
)
from api.voice.timeline import call_timeline
from api.voice.views import call_details
from wire import control, rpc
from wire.custom_data import check_custom_data
from wire.decoding.errors import BadInput, ErrorCollector
from wire.decoding.messages import decode_message
from wire.party import ENDPOINT_PREFIX, Party
from wire.phone_numbers.e164 import canonical
from wire.tree import Limits, check_action
from wire.verbs import Action
from wire.views import CallView, EndedCalls, Replay

LARGE_BYTES = 65_536  # of a timeline
# Returns the timeline of a call's record; None: the user may read no such record.
EndedTimeline = Callable[[Principal, str], Awaitable[bytes | None]]
_ON_MACHINE = "machineDetection.onMachine"


class VoiceService(Struct, frozen=True):
    """Operations on calls."""

    engine: EngineClient
    accounts: AccountCache
    call_limits: CallLimits
    tree_limits: Limits
    ended_timeline: EndedTimeline

    async def originate(
        self, user: Principal, body: OriginateRequest, request_id: str | None
    ) -> bytes:
        """Start a call; the same request id starts the same call."""
        _check_own_call(user, body)
        entry = await self.accounts.get(user.account_id)
        permissions = Permissions.of(entry)
        request = _originate_request(user, body, request_id, permissions)
        self._check(request, permissions)
        async with self.call_limits.admit(entry.account):
            started = await self.engine.request(rpc.StartedCall, "POST", "/calls", request)
        return msgspec.json.encode(OriginateResult(started.call_id, started.call_id))

    async def permissions(self, user: Principal) -> Permissions:
        """Return which caller ids the account may show, and which numbers it may call."""
        return Permissions.of(await self.accounts.get(user.account_id))

    async def list_live(self, user: Principal, query: LiveCallQuery) -> bytes:
        """List the live calls of the account, or of the token's agent."""
        region = (await self.accounts.get(user.account_id)).region
        number = canonical(query.number, region)
        return await list_live_calls(self.engine, user, query.model_copy(update={"number": number}))

    async def ended(self, user: Principal, limit: int) -> EndedCalls:
        query = {"account": user.account_id, "limit": str(limit)}
        return await self.engine.request(EndedCalls, "GET", "/calls/ended", query=query)

    async def show(self, user: Principal, call_id: str) -> bytes:
        """Show a call, live or ended; an agent's token shows those of the agent."""
        return call_details(await self._view(user, call_id))

    async def timeline(self, user: Principal, call_id: str, after: str | None = None) -> bytes:
        """Show what happened in a call, live or ended; with the scope `webhooks` its attempts.

        An agent's token shows that of the agent's calls. Who may read records sees also the
        timeline of a call that engines no longer keep.
        """
        is_agent = user.only_agent("calls") is not None
        try:
            if is_agent:
                await self._view(user, call_id)
            found = await self._timeline(user, call_id, after or "", is_agent=is_agent)
        except NotFound:
            if "cdr:own" in user.scopes and (ended := await self.ended_timeline(user, call_id)):
                return ended
            raise
        # That of a call with thousands of events takes tens of milliseconds.
        is_large = len(found) > LARGE_BYTES
        return await asyncio.to_thread(call_timeline, found) if is_large else call_timeline(found)

    async def _timeline(
        self, user: Principal, call_id: str, after: str, *, is_agent: bool
    ) -> bytes:
        reader = "operator" if OPERATIONS in user.scopes else "account"
        query = {"account": user.account_id, "reader": "agent" if is_agent else reader}
        if after:
            query["after"] = after
        if is_agent or "webhooks" not in user.scopes:
            query["attempts"] = "false"
        return await self.engine.request_raw("GET", call_path(call_id, "/timeline"), query=query)

    async def replay(self, user: Principal, call_id: str) -> CallReplay:
        """Compare a call with what this version of the engine would do."""
        query = {"account": user.account_id, "events": "false"}  # reading them costs more
        found = await self.engine.request(Replay, "GET", call_path(call_id, "/replay"), query=query)
        return call_replay(found)

    async def _view(self, user: Principal, call_id: str) -> bytes:
        query = {"account": user.account_id}
        view = await self.engine.request_raw("GET", call_path(call_id), query=query)
        agent = user.only_agent("calls")
        if agent and agent not in decode_message(view, CallView).agents:
            raise _not_found(call_id)
        return view

    async def check_control(
        self, user: Principal, call_id: str, channel_id: str | None = None
    ) -> None:
        """Raise NotFound if a token acts as an agent that is not in the call.

        Raises Forbidden if it names a channel that is not the agent's.
        """
        if agent := user.only_agent("calls"):
            view = decode_message(await self._view(user, call_id), CallView)
            own = {each.channel_id for each in view.legs if each.agent_id == agent}
            if not own:
                raise _not_found(call_id)
            if channel_id is not None and channel_id not in own:
                raise Forbidden(f"channelId: this token acts as agent {agent}", "agent")

    async def show_active(self, user: Principal, call_id: str) -> bytes:
        """Show a live call; raises NotFound."""
        view = await self._view(user, call_id)
        if decode_message(view, CallView).ended_ms:
            raise NotFound(f"call {call_id} has ended", "call_ended")
        return call_details(view)

    async def control_leg(
        self, user: Principal, call_id: str, action: str, body: BaseLegRequest
    ) -> bytes:
        """Unmute, hold or unhold a leg."""
        await self.check_control(user, call_id)
        request = control.LegControl(body.channel_id, account=user.account_id)
        return call_details(await self._post(call_id, f"/{action}", request))

    async def mute(self, user: Principal, call_id: str, body: BaseMuteRequest) -> bytes:
        """Mute a leg: the others do not hear it, or it does not hear them, or both."""
        await self.check_control(user, call_id)
        request = project(control.MuteLeg, body, account=user.account_id)
        return call_details(await self._post(call_id, "/mute", request))

    async def record(self, user: Principal, call_id: str, action: RecordingAction) -> bytes:
        """Start, pause, resume or stop the recording of a call."""
        await self.check_control(user, call_id)
        request = control.CallControl(account=user.account_id)
        return await self._post(call_id, f"/recording/{action}", request)

    async def dial(self, user: Principal, body: DialRequest) -> bytes:
        """Call a party into a call."""
        await self.check_control(user, body.call_id)
        permissions = await self.permissions(user)
        if not body.target.startswith(ENDPOINT_PREFIX):
            permissions.check_party(body.target, "target")
        if body.caller_id is not None:
            permissions.check_caller_id(body.caller_id, "callerId")
        caller_id = permissions.own(body.caller_id or "")
        request = project(control.DialInto, body, caller_id=caller_id, account=user.account_id)
        return await self._post(body.call_id, "/dial", request)

    async def hangup(self, user: Principal, call_id: str, body: BaseHangupRequest) -> bytes:
        """Hang up the leg that is named, else the leg of the token's agent, else the call."""
        if user.only_agent("calls"):
            user.check_agent(body.agent_id, "agentId")
        await self.check_control(user, call_id)
        agent = body.agent_id or (None if body.channel_id else user.agent_id)
        request = control.HangupCall(body.channel_id, agent, account=user.account_id)
        return call_details(await self._post(call_id, "/hangup", request))

    async def _post(self, call_id: str, path: str, request: Any) -> bytes:
        return await self.engine.request_raw("POST", call_path(call_id, path), request)

    def _check(self, request: rpc.Originate, permissions: Permissions) -> None:
        """Check a request; raises BadInput with all errors."""
        collector = ErrorCollector()
        for check in _checks(request, permissions, self.tree_limits):
            with collector.check():
                check()
        collector.raise_all()


def _checks(
    request: rpc.Originate, permissions: Permissions, limits: Limits
) -> Iterator[Callable[[], object]]:
    if request.from_first:
        yield partial(permissions.check_party, request.from_, "from")
    yield partial(permissions.check_party, request.to, "to")
    trees = (
        (request.action, "action"),
        (request.fallback, "fallback"),
        (_on_machine(request), _ON_MACHINE),
    )
    for action, path in trees:
        if action is not None:
            yield partial(_check_size, action, limits, path)
            yield partial(check_action, action, limits, path)
            yield partial(permissions.check_tree, action, path)
    yield partial(check_custom_data, request.custom_data, "customData")
    yield partial(check_custom_data, request.contact, "contact")


def _check_size(action: Action, limits: Limits, path: str) -> None:
    if len(msgspec.json.encode(action)) > limits.size_bytes:
        raise BadInput(path, f"larger than {limits.size_bytes} bytes", "too_large")


def _on_machine(request: rpc.Originate) -> Action | None:
    detection = request.machine_detection
    if isinstance(detection, bool) or detection.on_machine in {"continue", "hangup"}:
        return None
    return detection.on_machine


def _check_own_call(user: Principal, body: OriginateRequest) -> None:
    """Let an agent's token call the agent's own phone first, and then one party; no more.

    A tree or a flow can call anyone else, and events may not be for the agent. Whether a call is
    recorded is for those who see all calls.
    """
    agent = user.only_agent("calls")
    if agent is None:
        return
    if Party.parse(body.from_).agent_id != agent:
        raise Forbidden(f"from: this token starts calls of agent:{agent}", "agent")
    for name, value in (
        ("action", body.action),
        ("fallback", body.fallback),
        ("flowId", body.flow_id),
        ("statusCallbackUrl", body.status_callback_url),
    ):
        if value is not None:
            raise Forbidden(f"{name}: needs the scope calls", "scope")
    if rpc.is_enabled(body.record_call):
        raise Forbidden("recordCall: needs the scope calls", "scope")


def _not_found(call_id: str) -> NotFound:
    return NotFound(f"no call {call_id}", "not_found")


def _originate_request(
    user: Principal,
    body: OriginateRequest,
    request_id: str | None,
    permissions: Permissions,
) -> rpc.Originate:
    """Build the engine's request for either form of click-to-call."""
    own_number = permissions.own(body.from_)
    return project(
        rpc.Originate,
        body,
        account=user.account_id,
        from_=own_number or body.from_,
        from_first=own_number is None,
        caller_id=own_number or next(iter(permissions.numbers), None),
        request_id=request_id,
        labels=labels_of(body, from_first=own_number is None),
    )


def labels_of(body: OriginateRequest, *, from_first: bool) -> dict[str, str]:
    """Return labels for the form of a call and its flow, unless its customData has them.

    `clientId` is set by the customer alone, as a text of customData; without a flow, a call's path
    is its direction.
    """
    labels = {"obdType": "click-to-call" if from_first else "direct"}
    if body.flow_id is not None:
        labels["callPath"] = f"flow:{body.flow_id}"
    custom_data = body.custom_data or {}
    return {
        name: text for name, text in labels.items() if not isinstance(custom_data.get(name), str)
    }
