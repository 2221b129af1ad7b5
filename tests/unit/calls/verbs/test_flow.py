"""Flows that are graphs: node after node, by exits, with what each brings (design section 7)."""

from typing import Any

import pytest

from engine.calls.asked import DialRequested
from engine.calls.commands import Hangup, Originate
from engine.calls.errands import LoadFlow, LoadNode
from engine.calls.events import (
    ActionFailed,
    ApiAnswered,
    FlowEntered,
    LegAnswered,
    LegEnded,
    LegPlaced,
    NodeLoaded,
)
from engine.calls.running import MOST_VERBS
from engine.calls.values import MOST_CHARS, MOST_VARIABLES
from engine.calls.verbs.flow import FLOW_MS, MOST_VISITS
from engine.flows.document import node_in
from engine.runtime.flows import known_to
from tests.unit.calls.building import ID, MAIN, called, say
from tests.unit.calls.flows import RUN, heard, outline, pressed, run, silent, walk
from tests.unit.calls.verbs.flow_calls import LOOKUP_FLOW, said
from wire.flow import SayNode
from wire.tree import DEFAULT_LIMITS
from wire.verbs import SayData

MENU = {"type": "menu", "branches": {"1": "one", "22": "two"}, "noInput": "no", "invalid": "bad"}
ENDS: dict[str, Any] = {name: say(name) for name in ("one", "two", "no", "bad")}
MENU_FLOW = outline("menu", menu=MENU, **ENDS)


def test_a_flow_runs_node_after_node_then_what_comes_after() -> None:
    """Say → hangup by exits; a node without next ends the flow, then the nested action runs."""
    flow = outline("a", a=say("first", next="b"), b=say("second"))
    story = run(flow, action=say("after"))
    assert said(story) == "first"
    assert said(heard(story, flow)) == "second"
    assert said(heard(story, flow)) == "after"
    assert [each.node for each in story.wanted(LoadNode)] == ["a", "b"]
    story.fetched(())
    assert story.state == "Ending"


def test_a_flow_that_ends_hangs_up() -> None:
    """After the last node of the last flow nothing is left."""
    assert heard(run(flow := outline("a", a=say("x"))), flow).state == "Ending"
    assert run(outline("a", a={"type": "hangup"})).state == "Ending"


@pytest.mark.parametrize(
    ("keys", "text"), [("1", "one"), ("22", "two"), ("3", "bad"), ("2", "bad")]
)
def test_a_menu_branches_by_keys(keys: str, text: str) -> None:
    """The keys lead where the branch does, all others to `invalid`.

    Fewer than the longest branch has wait for one more.
    """
    story = run(MENU_FLOW)
    for key in keys:
        pressed(story, MENU_FLOW, key)
    story = silent(story, MENU_FLOW) if story.state == "Gathering" else story
    assert said(story) == text
    assert story.call.variables["digits"] == keys


def test_silence_in_a_menu() -> None:
    """Nobody presses a key: `noInput`."""
    assert said(silent(run(MENU_FLOW), MENU_FLOW)) == "no"


def test_digits_are_a_variable() -> None:
    """What a gather collected is `{{digits}}` for every later node."""
    keys = {"type": "gather", "data": {"maxDigits": 2}, "next": "back"}
    flow = outline("keys", keys=keys, back=say("you pressed {{digits}}"))
    assert said(pressed(pressed(run(flow), flow, "4"), flow, "2")) == "you pressed 42"


def test_a_condition_takes_the_first_case_that_holds() -> None:
    """Cases in their order, else `else`; a value may be a template."""
    cases = [
        {"variable": "contact.tier", "value": "{{vars.best}}", "next": "one"},
        {"variable": "contact.tier", "operator": "exists", "next": "two"},
    ]
    flow = outline(
        "best",
        best={"type": "set", "variables": {"best": "gold"}, "next": "ask"},
        ask={"type": "condition", "cases": cases, "else": "no"},
        **ENDS,
    )
    for contact, text in (({"tier": "gold"}, "one"), ({"tier": "tin"}, "two"), ({}, "no")):
        assert said(run(flow, contact=contact)) == text


def test_variables_are_set_and_taken_away() -> None:
    """A whole template keeps its kind, text around it makes text; null takes a variable away."""
    flow = outline(
        "a",
        a={"type": "set", "variables": {"n": "{{custom.n}}", "t": "n={{custom.n}}"}, "next": "b"},
        b={"type": "set", "variables": {"t": None, "m": "{{vars.t}}!"}, "next": "c"},
        c=say("{{vars.n}} {{vars.m}} {{vars.t}}{{call.to}}"),
    )
    story = run(flow, custom_data={"n": 3})
    assert said(story) == "3 n=3! +4711111111"
    assert story.call.variables == {"vars.n": 3, "vars.m": "n=3!"}


@pytest.mark.parametrize(
    "variables",
    [{"big": "x" * (MOST_CHARS + 1)}, {f"v{n}": "x" * 900 for n in range(12)}],
    ids=["one too long", "too long together"],
)
def test_variables_are_bounded(variables: dict[str, str]) -> None:
    """They are stored with each step: more than there is room for ends the call, loudly."""
    flow = outline("a", a={"type": "set", "variables": variables})
    story = run(flow)
    assert (story.state, story.call.reason) == ("Ending", "too_many_variables")


def test_variables_are_counted() -> None:
    """So is one more than there may be, of several nodes."""
    full = {f"v{n}": n for n in range(MOST_VARIABLES)}
    flow = outline(
        "a",
        a={"type": "set", "variables": full, "next": "b"},
        b={"type": "set", "variables": {"more": 1}},
    )
    assert run(flow).call.reason == "too_many_variables"


def test_goto_goes_so_often_and_then_on() -> None:
    """Its limit counts the call's visits; then its `next`, if it has one."""
    again = {"type": "goto", "node": "menu", "limit": 2, "next": "no"}
    flow = outline("menu", **{**ENDS, "menu": {**MENU, "noInput": "again"}, "again": again})
    story = run(flow)
    for _ in range(3):
        assert story.state == "Gathering"
        silent(story, flow)
    assert said(story) == "no"


def test_goto_without_a_way_on_ends_loudly() -> None:
    """Nothing stands for what comes after the last round: `too_many_loops`."""
    again = {"type": "goto", "node": "menu", "limit": 1}
    flow = outline("menu", **{**ENDS, "menu": {**MENU, "noInput": "again"}, "again": again})
    story = silent(silent(run(flow), flow), flow)
    assert (story.state, story.call.reason) == ("Ending", "too_many_loops")


def test_a_flow_that_goes_round_for_ever() -> None:
    """Visits of each node are counted, whatever leads there."""
    flow = outline("menu", menu={**MENU, "noInput": "menu", "invalid": "menu"}, **ENDS)
    story, rounds = run(flow), 0
    while story.state == "Gathering":
        rounds, _ = rounds + 1, silent(story, flow)
    assert (rounds, story.call.reason) == (MOST_VISITS, "too_many_loops")
    assert story.call.verbs < MOST_VERBS


def test_a_node_that_cannot_be_read_ends_the_call() -> None:
    """Without the node there is nothing to go on with."""
    story = called(RUN)
    story.take(FlowEntered(f"{ID}.r1", "support", 1, "a"))
    assert story.call.doing.deadline_ms == story.now + FLOW_MS  # type: ignore[union-attr]  # Asking
    story.take(ActionFailed(f"{ID}.r2", "no version 1"))
    assert (story.state, story.call.reason) == ("Ending", "action_failed:no version 1")


def test_a_dial_brings_how_it_ended() -> None:
    """`{{dial.status}}` says how; whom it reached and why not are there too."""
    dial = {"type": "dial", "data": {"number": "+4712"}, "timeout": 5, "next": "after"}
    flow = outline("sales", sales=dial, after=say("{{dial.status}} {{dial.number}}"))
    story = run(flow)
    leg = story.wanted(Originate)[-1].leg
    story.take(LegPlaced(leg))
    assert said(walk(story, flow, story.take(LegEnded(leg, 17)))) == "busy +4712"
    assert story.call.variables["dial.cause"] == 17


def test_flows_nest_and_share_variables() -> None:
    """A flow within a flow knows what was set, and leaves what it sets."""
    outer = outline(
        "a",
        a={"type": "set", "variables": {"x": 1}, "next": "b"},
        b={"type": "flow", "data": {"flowId": "inner"}, "next": "c"},
        c=say("{{vars.y}}"),
    )
    inner = outline("a", a={"type": "set", "variables": {"y": "{{vars.x}}2"}})
    story = run(outer)
    entered = FlowEntered(story.wanted(LoadFlow)[-1].request, "inner", 7, "a")
    [asked] = story.take(entered)
    assert isinstance(asked, LoadNode)
    node = node_in(inner, asked.node, known_to(story.call), DEFAULT_LIMITS)
    walk(story, outer, story.take(NodeLoaded(asked.request, "a", node)))
    assert said(story) == "12"
    assert [each.version for each in story.wanted(LoadNode)] == [1, 1, 7, 1]
    last = story.wanted(LoadNode)[-1]
    assert (last.flow_id, last.node) == ("support", "c")


def test_a_conversation_does_not_lose_the_flow() -> None:
    """A party who is called in while an API is asked: the answer is kept for afterwards."""
    story = run(LOOKUP_FLOW)
    story.take(DialRequested("+4755", 20))
    leg = story.wanted(Originate)[-1].leg
    story.take(LegPlaced(leg))
    story.take(LegAnswered(leg))
    assert story.state == "Talking"
    story.take(ApiAnswered(f"{ID}.r3", 200, {"name": "Ada"}))
    assert story.state == "Talking"
    assert said(walk(story, LOOKUP_FLOW, story.take(LegEnded(leg, 16)))) == "Ada"


@pytest.mark.parametrize("comes", ["during", "after"])
def test_a_node_that_comes_into_a_conversation(comes: str) -> None:
    """A flow, and a node, that are read while people talk begin when they have done."""
    flow = outline("a", a=say("first"))
    story = called(RUN)
    story.take(DialRequested("+4755", 20))
    leg = story.wanted(Originate)[-1].leg
    if comes == "during":
        story.take(FlowEntered(f"{ID}.r1", "support", 1, "a"))
    for event in (LegPlaced(leg), LegAnswered(leg)):
        story.take(event)
    if comes == "after":
        story.take(FlowEntered(f"{ID}.r1", "support", 1, "a"))
    else:
        story.take(NodeLoaded(story.wanted(LoadNode)[0].request, "a", SayNode(SayData("first"))))
    assert story.state == "Talking"
    assert said(walk(story, flow, story.take(LegEnded(leg, 16)))) == "first"


def test_the_caller_hangs_up_in_a_flow() -> None:
    """The call is over; nothing of the flow runs any more."""
    story = run(LOOKUP_FLOW)
    story.hang_up()
    assert story.call.is_over
    assert story.take(ApiAnswered(f"{ID}.r3", 200, {})) == ()
    assert not story.wanted(Hangup) or story.wanted(Hangup)[0].leg == MAIN
