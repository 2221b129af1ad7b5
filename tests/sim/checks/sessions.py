"""Every transfer and conference ends, by allowed transitions, and at most one is live."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from engine.calls.model.call import Call
from engine.calls.model.call_states import Bridged
from engine.calls.model.sessions import MEMBER_MOVES, Conference, Transfer
from tests.sim.call_histories import CallHistory
from tests.sim.intervals import intervals_when, is_long, merge
from tests.sim.world_view import WorldView
from wire.base import tag_of

ENDS = {"canceled", "failed", "abandoned"}
TRANSFER = {
    "": {"starting"},
    "starting": {"ringback", "answered", "blind_transferred", *ENDS},
    "ringback": {"answered", "blind_transferred", *ENDS},
    "answered": {"completed", *ENDS},
}
CONFERENCE = {"": {"init"}, "init": {"in-progress", "completed"}, "in-progress": {"completed"}}
MEMBER = {
    "": {
        "queued",
        "connecting",
        "ringing",
        "connected",
        "complete",
        "failed",
    },  # some were in the call before
    "queued": {"connecting", "ringing", "connected", "failed"},
    "connecting": {"ringing", "connected", "failed"},
    "ringing": {"connected", "failed"},
    "connected": {"complete"},
}
Path = dict[str, list[str]]


def check(world: WorldView, histories: Sequence[CallHistory]) -> Iterator[tuple[str, str]]:
    """Check the sessions of every call."""
    for history in histories:
        if any(m.call.transfers or m.call.conferences for m in history.steps):
            for message in (
                *_moved(history),
                *_reported(history),
                *_alive(history),
                *_few(world, history),
            ):
                yield history.id, message


def _moved(history: CallHistory) -> Iterator[str]:
    paths: Path = {}
    tables = {}
    for step in history.steps:
        for name, state, table in _states(step.call):
            tables[name] = table
            path = paths.setdefault(name, [""])
            if path[-1] != state:
                path.append(state)
    for name, path in paths.items():
        yield from _steps(name, path, tables[name])


def _states(call: Call) -> Iterator[tuple[str, str, dict[str, set[str]]]]:
    for transfer in call.transfers:
        yield transfer.id, transfer.state, TRANSFER
    for conference in call.conferences:
        yield conference.id, conference.state, CONFERENCE
        for member in conference.members:
            yield f"{conference.id}/{member.leg}", member.state, MEMBER


def _steps(name: str, path: list[str], table: dict[str, set[str]]) -> Iterator[str]:
    for before, after in pairwise(path):
        if after not in table.get(before, ()):
            yield f"{name} went from {before or 'nothing'} to {after}"
    if path[-1] in table:
        yield f"{name} stayed {path[-1]} to the end of its call"


def _reported(history: CallHistory) -> Iterator[str]:
    tables = {"transfer": TRANSFER, "conference": CONFERENCE, "conference-member": MEMBER}
    paths: dict[tuple[str, str], list[str]] = {}
    for event in history.events:
        if event.event in tables:
            leg = event.channel_id if event.event == "conference-member" else ""
            path = paths.setdefault((event.event, f"{event.session_id}/{leg}"), [""])
            if path[-1] == event.session_state and event.event != "transfer":
                yield f"published twice that {event.session_id}/{leg} is {event.session_state}"
            elif path[-1] != event.session_state:
                path.append(event.session_state or "nothing")
    for (kind, name), path in paths.items():
        table = tables[kind]
        if kind == "conference-member" and path[-1] in MEMBER_MOVES:
            table = {
                state: table[state] for state in path[:-1]
            }  # the end of the conference is theirs, too
        yield from (f"published that {message}" for message in _steps(name, path, table))


def _alive(history: CallHistory) -> Iterator[str]:
    for step in history.steps:
        call = step.call
        sessions: list[Transfer | Conference] = [*call.transfers, *call.conferences]
        live = [each.id for each in sessions if each.is_live]
        if len(live) > 1:
            yield f"has several live sessions: {live}"
        if live and not isinstance(call.state, Bridged):
            yield f"has {live} live without a conversation, in {tag_of(call.state)}"
        if call.transfer is not None:
            yield from _parties(call, call.transfer)
        for ended in sessions:
            if not ended.is_live and not ended.ended_ms:
                yield f"{ended.id} has ended without a time"


def _parties(call: Call, transfer: Transfer) -> Iterator[str]:
    present = {"customer": transfer.customer, "target": transfer.target}
    if transfer.mode == "attended":
        present["source"] = transfer.source
    for role, leg in present.items():
        if call.leg(leg) is None:
            yield f"{transfer.id} is {transfer.state} without its {role}"
    is_answered = transfer.state == "answered"
    # A target that answers after its hangup was requested, as it does in an outage, does not count.
    target = call.leg(transfer.target)
    is_leaving = target is not None and target.hangup_requested
    if call.is_up(transfer.target) != is_answered and not is_leaving:
        yield f"{transfer.id} is {transfer.state}, but its target is {call.leg(transfer.target)}"


def _few(world: WorldView, history: CallHistory) -> Iterator[str]:
    for interval in merge(intervals_when(history, lambda call: _is_lonely(call.conference))):
        if is_long(world, interval):
            yield f"had a conference of one for {interval[1] - interval[0]:.0f} ms"


def _is_lonely(conference: Conference | None) -> bool:
    return conference is not None and sum(m.state in MEMBER_MOVES for m in conference.members) < 2
