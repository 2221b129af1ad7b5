"""Where a transfer leads: the customer has the target, or the source again, or goes on alone.

A coach whose other side has left is silent until it is asked to speak to all.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from engine.calls.model.call import Call
from engine.calls.model.events import DeadlinePassed, Event, LegEnded
from engine.calls.model.requests import CoachRequested
from engine.calls.model.sessions import Transfer
from engine.calls.model.state import Bridged, Ended, Ending
from engine.calls.replay import ReplayStep
from tests.sim.call_log import Story
from tests.sim.scene import World


def check(world: World, told: Sequence[Story]) -> Iterator[tuple[str, str]]:
    """Check every step of every call that has sessions."""
    del world
    for story in told:
        for before, moment in pairwise(story.moments):
            for words in (*_handed(before.call, moment), *_coached(before.call, moment)):
                yield story.id, words


def _handed(before: Call, moment: ReplayStep) -> Iterator[str]:
    was, call = before.transfer, moment.call
    if was is None or isinstance(call.state, Ending | Ended):
        return
    if isinstance(moment.event, DeadlinePassed) and not isinstance(call.state, Bridged):
        return  # the dial's own time was up, too
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
    yield from _left(was, now, moment.event)


def _left(was: Transfer, now: Transfer, event: Event) -> Iterator[str]:
    if was.mode == "blind" or not isinstance(event, LegEnded) or event.leg != was.source:
        return
    if was.state == "answered" and now.state != "completed":
        yield f"{was.id} is {now.state} though its source left the others to themselves"
    if was.state != "answered" and (now.mode, now.is_live) != ("blind", True):
        yield f"{was.id} is {now.state} though its source left the customer to the target"


def _coached(before: Call, moment: ReplayStep) -> Iterator[str]:
    members = before.conference.members if before.conference else ()
    is_asked = isinstance(moment.event, CoachRequested)
    for coach in (each for each in members if each.coaches and not is_asked):
        conference, leg = moment.call.conference, moment.call.leg(coach.leg)
        now = conference.member(coach.leg) if conference else None
        if now and leg and not now.coaches and leg.muted not in {"in", "both"}:
            yield f"{coach.leg} coached, and is heard by all"
