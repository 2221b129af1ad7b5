"""Lookup of what a request names: names in the path, calls, legs, sessions and members."""

import asyncio
import re
from collections.abc import Iterator

from aiohttp import web

from engine.calls.model.call import Call
from engine.calls.model.sessions import Conference, Member, Transfer
from engine.calls.sessions.preconditions import Rejection
from engine.rpc.problems import NotFound
from engine.runtime.call_service import CallService
from engine.runtime.cluster.shard_map import ShardMap
from engine.runtime.shard.control_requests import RequestRejected
from wire.decoding.errors import BadInput
from wire.decoding.patterns import NAME, PATTERNS, SHARD
from wire.shard import ShardId, parse_shard


def shard_in(shards: ShardMap, name: str, path: str = "shard") -> ShardId:
    """Return a shard by its name; raises BadInput if there is none."""
    try:
        shard = parse_shard(name)
    except ValueError:
        raise BadInput(path, f"expected {PATTERNS[SHARD]}") from None
    if not shards.has(shard):
        raise BadInput(path, f"no shard {name}")
    return shard


async def call_of(service: CallService, request: web.Request, account: str | None) -> Call:
    """Return the live or ended call in the path; raises NotFound for another account's."""
    call_id = request.match_info["call"]
    call = await service.read(call_id)
    if call is None:
        service.check_owned(call_id)  # the shard's owner knows the call even if the store lost it
    if call is None or account not in {None, call.account}:
        raise NotFound(f"no call {call_id}")
    return call


async def live_call_of(service: CallService, request: web.Request, account: str | None) -> Call:
    """Return the live call in the path once its node is connected; raises RequestRejected."""
    await service.await_node(request.match_info["call"])  # first: the state after the wait decides
    call = await call_of(service, request, account)
    if service.find(call.id) is None:
        if not call.is_ended:
            service.check_owned(call.id)
        raise RequestRejected(Rejection("conflict", "call_ended", f"call {call.id} has ended"))
    return call


def live_calls(service: CallService, account: str | None) -> Iterator[Call]:
    """Iterate over the live calls of this engine, or of one account."""
    for node in service.nodes.values():
        for shard in node.shards.values():
            for live_call in shard.calls.values():
                if account in {None, live_call.call.account}:
                    yield live_call.call


def check_legs(call: Call, *legs: str | None) -> None:
    """Check that the named legs are live legs of the call."""
    for leg in filter(None, legs):
        if call.leg(leg) is None:
            raise _missing("no_such_leg", f"no channel {leg} in this call")


def leg_of(call: Call, agent: str) -> str:
    """Return the id of an agent's leg."""
    for leg in call.legs:
        if leg.agent == agent:
            return leg.id
    raise _missing("no_such_leg", f"no channel of agent {agent} in this call")


def ringing_leg(call: Call, party: str) -> str | None:
    """Return the id of the leg that is ringing a party, if any."""
    ringing = (leg for leg in call.legs if leg.id != call.main and leg.state != "up")
    return next((leg.id for leg in ringing if leg.party == party), None)


def transfer_of(call: Call, session: str) -> Transfer:
    """Return an active or ended transfer session."""
    for transfer in call.transfers:
        if transfer.id == session:
            return transfer
    raise _no_session(session)


def conference_of(call: Call, session: str) -> Conference:
    """Return an active or ended conference session."""
    for conference in call.conferences:
        if conference.id == session:
            return conference
    raise _no_session(session)


def last_conference(call: Call) -> Conference:
    """Return the active conference, or the latest one."""
    if not call.conferences:
        raise _missing("no_such_session", f"no conference in call {call.id}")
    return call.conferences[-1]


def conference_of_agent(
    service: CallService, account: str, agent: str
) -> tuple[Call, Conference] | None:
    """Return the active conference on this engine that an agent is in or invited to."""
    for call in live_calls(service, account):
        conference = call.conference
        if conference and any(m.is_live and m.agent_id == agent for m in conference.members):
            return call, conference
    return None


def no_conference(agent: str) -> RequestRejected:
    """Return the rejection for an agent without a conference."""
    return _missing("no_such_session", f"no conference of agent {agent}")


def member_of(conference: Conference, channel: str | None, agent: str | None) -> Member:
    """Return the member of a channel, an agent or both; prefer an active one."""
    found = [
        each
        for each in conference.members
        if channel in {None, each.leg} and agent in {None, each.agent_id}
    ]
    if not found:
        raise _missing("no_such_member", f"no such member in conference {conference.id}")
    return next((each for each in found if each.is_live), found[-1])


def _no_session(session: str) -> RequestRejected:
    return _missing("no_such_session", f"no session {session} in this call")


def _missing(code: str, detail: str) -> RequestRejected:
    return RequestRejected(Rejection("missing", code, detail))


async def check_pbx_address(node: str, host: str, address: str) -> None:
    """Check that an address is a call's node, by name, host or IP address; raises BadInput."""
    if not host or address in {node, host}:
        return
    try:
        loop = asyncio.get_running_loop()
        found = {info[4][0] for info in await loop.getaddrinfo(host, None)}
    except OSError:
        found = set()
    if address not in found:
        raise BadInput("pbxIp", f"the call is on node {node}, {host}", "other_node")


def name_in(request: web.Request, part: str) -> str:
    """Return a name in the path; raises BadInput."""
    name = request.match_info[part]
    if re.search(NAME, name) is None:
        raise BadInput(part, f"expected {PATTERNS[NAME]}")
    return name
