"""Forged stories: what a core would leave behind whose machines forget something."""

from collections.abc import Callable

from msgspec.structs import replace

from engine.calls.model.call import Call
from engine.calls.model.leg import Leg
from engine.calls.model.sessions import Conference, Transfer
from tests.sim.call_log import Story
from wire.events import CallEvent


def without_ends(story: Story) -> Story:
    """Let no session come to its end."""
    return _with_calls(story, lambda call: _with_sessions(call, _still_ringing, _still_on))


def backwards(story: Story) -> Story:
    """Let a session that has ended begin again."""
    last = story.moments[-1]
    call = _with_sessions(last.call, lambda t: replace(t, state="starting"), _from_the_start)
    return replace(story, moments=(*story.moments[:-1], replace(last, call=call)))


def patient(story: Story) -> Story:
    """Let parties be called for longer than they were to be."""
    return _with_calls(story, lambda call: replace(call, legs=tuple(map(_brief, call.legs))))


def crowded(story: Story) -> Story:
    """Let every session have another beside it."""
    return _with_calls(
        story,
        lambda call: replace(
            call,
            transfers=(*call.transfers, *call.transfers[-1:]),
            conferences=(*call.conferences, *call.conferences[-1:]),
        ),
    )


def _with_calls(story: Story, forge: Callable[[Call], Call]) -> Story:
    moments = tuple(replace(each, call=forge(each.call)) for each in story.moments)
    return replace(story, moments=moments)


def _with_sessions(
    call: Call,
    transfers: Callable[[Transfer], Transfer],
    conferences: Callable[[Conference], Conference],
) -> Call:
    return replace(
        call,
        transfers=tuple(map(transfers, call.transfers)),
        conferences=tuple(map(conferences, call.conferences)),
    )


def _still_ringing(transfer: Transfer) -> Transfer:
    return transfer if transfer.is_live else replace(transfer, state="ringback")


def _still_on(conference: Conference) -> Conference:
    return conference if conference.is_live else replace(conference, state="in-progress")


def _from_the_start(conference: Conference) -> Conference:
    return replace(conference, state="init")


def _brief(leg: Leg) -> Leg:
    return replace(leg, ring_timeout_s=leg.ring_timeout_s / 10)


def unrecorded(story: Story) -> Story:
    """Let no end come with a record."""
    return replace(story, told=tuple(replace(event, record=None) for event in story.told))


def generous(story: Story) -> Story:
    """Let every call have talked for a second longer than it did."""
    return replace(story, told=tuple(map(_longer, story.told)))


def _longer(event: CallEvent) -> CallEvent:
    if event.record is None:
        return event
    return replace(event, record=replace(event.record, talk_ms=event.record.talk_ms + 1_000))


def undecided(story: Story) -> Story:
    """Let the last moment have led to something else when it happened."""
    *before, last = story.moments
    return replace(story, moments=(*before, replace(last, digest=1)))
