"""Tables with a row per member of a union: a new state, verb or stage needs its row."""

from collections.abc import Callable, Iterator
from typing import Any, get_args, get_type_hints

import pytest

from engine.calls.flows.variables import verb_results
from engine.calls.model import call_states
from engine.calls.model.events import Event
from engine.calls.model.requests import DialRequested, HoldRequested
from engine.calls.sessions.invites import restartable_verb
from engine.calls.sessions.preconditions import check_request
from engine.calls.states import STATES as ROWS
from engine.calls.step import RULES
from engine.calls.verbs import screening
from engine.calls.verbs.registry import VERBS
from tests.harness.calls.builders import Story, inbound
from tests.harness.calls.screenings import BOB
from tests.harness.calls.states import STATES
from wire.base import tag_of
from wire.flow import Node
from wire.verbs import ANY_VARIABLE, SINGLE_LEG_VERBS, SingleLegVerb, Verb, VerbTag
from wire.webhooks import DialResult


def _tags(union: Any) -> Iterator[str]:
    for each in get_args(union):
        yield each.__struct_config__.tag


def test_call_states() -> None:
    """Each state has a row, which the architecture page shows unless a step leaves it at once."""
    assert set(ROWS) == set(get_args(call_states.CallState))
    assert [each for each, row in ROWS.items() if not row.ends_when] == [call_states.Advance]


def test_rules_of_events() -> None:
    """Each event has a rule with which its way through `step` begins."""
    assert set(RULES) == set(get_args(Event))


def test_verbs() -> None:
    """Each verb has a row."""
    assert set(VERBS) == set(get_args(Verb))


def test_rows_of_a_single_leg() -> None:
    """A leg in screening reacts as the main leg does."""
    for state, rules in screening.STATES.items():
        assert ROWS[state].on_event is rules.on_event
        assert ROWS[state].suspend in {rules.suspend, None}
        assert ROWS[state].resume in {rules.resume, None}
    assert {each: VERBS[each] for each in screening.STARTS} == screening.STARTS


def test_calls_in_each_state() -> None:
    """The tests that run every event in every state have a call in each."""
    tags = {tag_of(make().call.state) for make in STATES.values()}
    assert tags == set(map(tag_of, ROWS)) - {"advance"}


def test_screening_stages() -> None:
    """Each stage runs, in the order of the union."""
    assert get_args(call_states.ScreeningStage) == screening.STAGES


def test_ended_verbs() -> None:
    """`Advance.event` names each verb."""
    assert get_args(VerbTag) == tuple(_tags(Verb))


def test_results_of_verbs() -> None:
    """A verb sets the variables that its nodes declare."""
    story = inbound(None)
    for verb, tag in zip(get_args(Verb), get_args(VerbTag), strict=True):
        found = verb_results(story, call_states.Advance(None, tag, DialResult("busy")))
        assert set(found) == set(verb.results) - {ANY_VARIABLE} or tag == "record"


def test_verbs_of_a_single_leg() -> None:
    """The verbs that run in a screening are those of the union; the others redirect the call."""
    assert get_args(SingleLegVerb) == SINGLE_LEG_VERBS
    others = set(_tags(Verb)) - set(_tags(SingleLegVerb))
    assert others == {"record", "pause", "stream", "dial", "flow", "redirect", "hangup"}


def test_verbs_within_verbs() -> None:
    """The verbs in `data` are those that `wire.tree.walk` finds, and prefetching, too."""
    found = {
        (tag_of(verb), name)
        for verb in get_args(Verb)
        for name, kind in get_type_hints(get_type_hints(verb)["data"]).items()
        if set(get_args(Verb)) & set(get_args(kind))
    }
    assert found == {("gather", "fallback"), ("dial", "whisper"), ("redirect", "fallback")}


def test_nodes_of_verbs() -> None:
    """Each verb is a node, too."""
    assert set(_tags(Verb)) <= set(_tags(Node))


@pytest.mark.parametrize("make", STATES.values(), ids=STATES)
def test_dial(make: Callable[[], Story]) -> None:
    """A party can be dialed in from the answer of the main leg until the call ends."""
    story = make()
    is_rejected = check_request(story.call, DialRequested(BOB, 30)) is not None
    not_answered, closing = {"starting", "detecting"}, {"ending", "archiving-recordings", "ended"}
    assert is_rejected == (tag_of(story.call.state) in not_answered | closing)


@pytest.mark.parametrize("make", STATES.values(), ids=STATES)
def test_interrupted_verbs(make: Callable[[], Story]) -> None:
    """A verb of the main leg restarts after a conversation, except a dial and a stream.

    A dial becomes the conversation; a stream waits, and goes on.
    """
    state = make().call.state
    is_kept = isinstance(state, (call_states.Dialing, call_states.Bridged, call_states.Streaming))
    assert restartable_verb(state) == (None if is_kept else getattr(state, "verb", None))
    assert state.running_verb == getattr(state, "verb", None)


@pytest.mark.parametrize("make", STATES.values(), ids=STATES)
def test_hold(make: Callable[[], Story]) -> None:
    """A hold of the main leg is rejected, or suspends the state, where the table says so."""
    story = make()
    on_hold = ROWS[type(story.call.state)].on_hold
    request = HoldRequested(story.call.main, held=True)
    is_rejected = check_request(story.call, request) is not None
    assert is_rejected == on_hold.startswith("rejected")
    story.take(request, 10)
    state = story.call.state
    is_suspended = (
        isinstance(state, (call_states.Playing, call_states.Gathering, call_states.Pausing))
        and state.suspended
    )
    assert is_suspended == on_hold.startswith("suspends")
