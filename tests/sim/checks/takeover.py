"""A transfer leaves the customer with the target, with the source, or alone in the tree.

A coach whose coached member left is muted until a request lets it speak to all.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from engine.calls.model.call import Call
from engine.calls.model.call_states import Bridged, Ended, Ending
from engine.calls.model.events import DeadlinePassed, Event, LegEnded
from engine.calls.model.requests import CoachRequested
from engine.calls.model.sessions import Transfer
from engine.calls.replay_audit import ReplayStep
from tests.sim.call_histories import CallHistory
from tests.sim.world_view import WorldView


def check(world: WorldView, histories: Sequence[CallHistory]) -> Iterator[tuple[str, str]]:
    """Check every step of every call with sessions."""
    del world
    for history in histories:
        for before, step in pairwise(history.steps):
            if not before.call.transfers and not before.call.conferences:
                continue
            for message in (*_handed(before.call, step), *_coached(before.call, step)):
                yield history.id, message


def _handed(before: Call, step: ReplayStep) -> Iterator[str]:
    was, call = before.transfer, step.call
    if was is None or isinstance(call.state, Ending | Ended):
        return
    if isinstance(step.event, DeadlinePassed) and not isinstance(call.state, Bridged):
        return  # the dial's time limit passed, too
    now = next((each for each in call.transfers if each.id == was.id), was)
    talkers = {call.main, *call.state.legs} if isinstance(call.state, Bridged) else set()
    match now.state:
        case "completed" | "blind_transferred" if not {was.customer, was.target} <= talkers:
            yield f"{was.id} is {now.state}, and {talkers} talk"
        case "canceled" | "failed" if call.leg(was.source) and was.mode == "attended":
            if not {was.customer, was.source} <= talkers:
                yield f"{was.id} is {now.state}, and {talkers} talk"
        case _:
            pass
    yield from _left(was, now, step.event)


def _left(was: Transfer, now: Transfer, event: Event) -> Iterator[str]:
    if was.mode == "blind" or not isinstance(event, LegEnded) or event.leg != was.source:
        return
    if was.state == "answered" and now.state != "completed":
        yield f"{was.id} is {now.state} though its source left the customer with the target"
    if was.state != "answered" and (now.mode, now.is_live) != ("blind", True):
        yield f"{was.id} is {now.state} though its source left before the target answered"


def _coached(before: Call, step: ReplayStep) -> Iterator[str]:
    members = before.conference.members if before.conference else ()
    is_requested = isinstance(step.event, CoachRequested)
    for coach in (each for each in members if each.coaches and not is_requested):
        conference, leg = step.call.conference, step.call.leg(coach.leg)
        now = conference.member(coach.leg) if conference else None
        if now and leg and not now.coaches and leg.muted not in {"in", "both"}:
            yield f"{coach.leg} coached, and is now heard by all"
