"""Forged histories: what a faulty core would leave behind."""

from collections.abc import Callable

from msgspec.structs import replace

from engine.calls.model.call import Call
from engine.calls.model.leg import Leg
from engine.calls.model.sessions import Conference, Transfer
from tests.sim.call_histories import CallHistory
from wire.events.call_events import CallEvent


def sessions_never_end(history: CallHistory) -> CallHistory:
    """Let no session end."""
    return _with_calls(history, lambda call: _with_sessions(call, _ringing_again, _in_progress))


def session_restarts(history: CallHistory) -> CallHistory:
    """Let an ended session begin again."""
    last = history.steps[-1]
    call = _with_sessions(last.call, lambda t: replace(t, state="starting"), _from_the_start)
    return replace(history, steps=(*history.steps[:-1], replace(last, call=call)))


def rings_too_long(history: CallHistory) -> CallHistory:
    """Let parties ring longer than their timeout."""
    return _with_calls(history, lambda call: replace(call, legs=tuple(map(_brief, call.legs))))


def duplicate_sessions(history: CallHistory) -> CallHistory:
    """Duplicate every session."""
    return _with_calls(
        history,
        lambda call: replace(
            call,
            transfers=(*call.transfers, *call.transfers[-1:]),
            conferences=(*call.conferences, *call.conferences[-1:]),
        ),
    )


def _with_calls(history: CallHistory, forge: Callable[[Call], Call]) -> CallHistory:
    steps = tuple(replace(each, call=forge(each.call)) for each in history.steps)
    return replace(history, steps=steps)


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


def _ringing_again(transfer: Transfer) -> Transfer:
    return transfer if transfer.is_live else replace(transfer, state="ringback")


def _in_progress(conference: Conference) -> Conference:
    return conference if conference.is_live else replace(conference, state="in-progress")


def _from_the_start(conference: Conference) -> Conference:
    return replace(conference, state="init")


def _brief(leg: Leg) -> Leg:
    return replace(leg, ring_timeout_s=leg.ring_timeout_s / 10)


def without_record(history: CallHistory) -> CallHistory:
    """Remove the call record from the last event."""
    return replace(history, events=tuple(replace(event, record=None) for event in history.events))


def talks_too_long(history: CallHistory) -> CallHistory:
    """Add a second to the talk time of every record."""
    return replace(history, events=tuple(map(_longer, history.events)))


def _longer(event: CallEvent) -> CallEvent:
    if event.record is None:
        return event
    return replace(event, record=replace(event.record, talk_ms=event.record.talk_ms + 1_000))


def wrong_digest(history: CallHistory) -> CallHistory:
    """Change the digest of the last step."""
    *before, last = history.steps
    return replace(history, steps=(*before, replace(last, digest=1)))
