"""What a request names, found in the engine or in a call; what is not there is told as missing."""

from collections.abc import Iterator

from aiohttp import web

from engine.calls.model.call import Call
from engine.calls.model.sessions import Conference, Member, Transfer
from engine.calls.sessions.preconditions import Rejection
from engine.rpc.problems import NotFound
from engine.runtime.service import CallService
from engine.runtime.shard.commit_ack import RequestRejected


async def call_of(switch: CallService, request: web.Request, account: str | None) -> Call:
    """Find the call that a path names, live or ended; another account's is not found."""
    call_id = request.match_info["call"]
    call = await switch.read(call_id)
    if call is None:
        switch.check_owned(call_id)  # who has its slot knows it, also when the store has lost it
    if call is None or account not in {None, call.account}:
        raise NotFound(f"no call {call_id}")
    return call


async def live_call_of(switch: CallService, request: web.Request, account: str | None) -> Call:
    """Find the live call that a path names, heard if soon; one that has ended is refused."""
    await switch.await_node(request.match_info["call"])  # first: what it is then decides the answer
    call = await call_of(switch, request, account)
    if switch.find(call.id) is None:
        if not call.is_ended:
            switch.check_owned(call.id)
        raise RequestRejected(Rejection("conflict", "call_ended", f"call {call.id} has ended"))
    return call


def live_calls(switch: CallService, account: str | None) -> Iterator[Call]:
    """List the calls that live in this engine, of one account if named."""
    for node in switch.nodes.values():
        for desk in node.shards.values():
            for actor in desk.actors.values():
                if account in {None, actor.call.account}:
                    yield actor.call


def check_legs(call: Call, *legs: str | None) -> None:
    """Check that the legs that are named are live ones of the call."""
    for leg in filter(None, legs):
        if call.leg(leg) is None:
            raise _missing("no_such_leg", f"no channel {leg} in this call")


def leg_of(call: Call, agent: str) -> str:
    """Find an agent's own leg."""
    for leg in call.legs:
        if leg.agent == agent:
            return leg.id
    raise _missing("no_such_leg", f"no channel of agent {agent} in this call")


def ringing_leg(call: Call, party: str) -> str | None:
    """Find the leg on which a party is being called just now."""
    called = (leg for leg in call.legs if leg.id != call.main and leg.state != "up")
    return next((leg.id for leg in called if leg.party == party), None)


def transfer_of(call: Call, session: str) -> Transfer:
    """Find a transfer session, live or ended."""
    for transfer in call.transfers:
        if transfer.id == session:
            return transfer
    raise _no_session(session)


def conference_of(call: Call, session: str) -> Conference:
    """Find a conference session, live or ended."""
    for conference in call.conferences:
        if conference.id == session:
            return conference
    raise _no_session(session)


def last_conference(call: Call) -> Conference:
    """Give the live conference, or the one that was last."""
    if not call.conferences:
        raise _missing("no_such_session", f"no conference in call {call.id}")
    return call.conferences[-1]


def conference_of_agent(
    switch: CallService, account: str, agent: str
) -> tuple[Call, Conference] | None:
    """Find the live conference here that an agent is in, or on the way to, and its call."""
    for call in live_calls(switch, account):
        conference = call.conference
        if conference and any(m.is_live and m.agent_id == agent for m in conference.members):
            return call, conference
    return None


def no_conference(agent: str) -> RequestRejected:
    """Say that an agent is in none."""
    return _missing("no_such_session", f"no conference of agent {agent}")


def member_of(conference: Conference, channel: str | None, agent: str | None) -> Member:
    """Find the member of a channel, of an agent, or of both; a live one before one that is gone."""
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
