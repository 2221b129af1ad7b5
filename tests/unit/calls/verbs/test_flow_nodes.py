"""What a flow's nodes do: menus, conditions, variables, gotos."""

from typing import Any

import pytest

from engine.calls.flows.variables import MAX_VARIABLE_CHARS, MAX_VARIABLES
from engine.calls.model.causes import BUSY
from engine.calls.model.commands import Hangup
from engine.calls.model.events import CallOpened
from engine.calls.model.io_commands import LoadFlow
from engine.calls.model.io_results import FlowStarted
from engine.calls.verbs.flow import MAX_VISITS
from engine.calls.verbs.registry import MAX_VERBS
from tests.harness.calls.builders import Story, inbound, say
from tests.harness.calls.flow_calls import spoken_text
from tests.harness.calls.flows import (
    RUN,
    CountedValue,
    load_nodes,
    outline,
    pass_deadline,
    press_digit,
    run_flow,
)

MENU = {"type": "menu", "branches": {"1": "one", "22": "two"}, "noInput": "no", "invalid": "bad"}
ENDS: dict[str, Any] = {name: say(name) for name in ("one", "two", "no", "bad")}
MENU_FLOW = outline("menu", menu=MENU, **ENDS)


@pytest.mark.parametrize(
    ("keys", "text"), [("1", "one"), ("22", "two"), ("3", "bad"), ("2", "bad")]
)
def test_a_menu_branches_by_digits(keys: str, text: str) -> None:
    """The keys lead where the branch does, all others to `invalid`.

    Fewer than the longest branch has wait for one more.
    """
    story = run_flow(MENU_FLOW)
    for key in keys:
        press_digit(story, MENU_FLOW, key)
    story = pass_deadline(story, MENU_FLOW) if story.state == "gathering" else story
    assert spoken_text(story) == text
    assert story.call.variables["digits"] == keys


def test_silence_in_a_menu() -> None:
    """No digit: `noInput`."""
    assert spoken_text(pass_deadline(run_flow(MENU_FLOW), MENU_FLOW)) == "no"


def test_digits_are_a_variable() -> None:
    """The digits of a gather are `{{digits}}` for every later node."""
    keys = {"type": "gather", "data": {"maxDigits": 2}, "next": "back"}
    flow = outline("keys", keys=keys, back=say("you pressed {{digits}}"))
    assert (
        spoken_text(press_digit(press_digit(run_flow(flow), flow, "4"), flow, "2"))
        == "you pressed 42"
    )


def test_a_condition_takes_the_first_case_that_holds() -> None:
    """Cases in order, then `else`; an operand may be a template."""
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
        assert spoken_text(run_flow(flow, contact=contact)) == text


def test_variables_are_set_and_removed() -> None:
    """A string that is one template keeps its type; other templates become text; null removes."""
    flow = outline(
        "a",
        a={"type": "set", "variables": {"n": "{{custom.n}}", "t": "n={{custom.n}}"}, "next": "b"},
        b={"type": "set", "variables": {"t": None, "m": "{{vars.t}}!"}, "next": "c"},
        c=say("{{vars.n}} {{vars.m}} {{vars.t}}{{call.to}}"),
    )
    story = run_flow(flow, custom_data={"n": 3})
    assert spoken_text(story) == "3 n=3! +4711111111"
    assert story.call.variables == {"vars.n": 3, "vars.m": "n=3!"}


@pytest.mark.parametrize(
    "variables",
    [{"big": "x" * (MAX_VARIABLE_CHARS + 1)}, {f"v{n}": "x" * 900 for n in range(12)}],
    ids=["one too long", "too long together"],
)
def test_variables_are_bounded(variables: dict[str, str]) -> None:
    """They are stored with each step: exceeding a limit ends the call."""
    flow = outline("a", a={"type": "set", "variables": variables})
    story = run_flow(flow)
    assert (story.state, story.call.reason) == ("ending", "too_many_variables")


def test_the_number_of_variables_is_bounded() -> None:
    """Also of variables that several nodes set."""
    full = {f"v{n}": n for n in range(MAX_VARIABLES)}
    flow = outline(
        "a",
        a={"type": "set", "variables": full, "next": "b"},
        b={"type": "set", "variables": {"more": 1}},
    )
    assert run_flow(flow).call.reason == "too_many_variables"


def test_goto_has_a_limit() -> None:
    """The limit counts the visits; then `next` follows, if there is one."""
    again = {"type": "goto", "node": "menu", "limit": 2, "next": "no"}
    flow = outline("menu", **{**ENDS, "menu": {**MENU, "noInput": "again"}, "again": again})
    story = run_flow(flow)
    for _ in range(3):
        assert story.state == "gathering"
        pass_deadline(story, flow)
    assert spoken_text(story) == "no"


def test_goto_without_next_ends_the_call() -> None:
    """After the last visit the call ends: `too_many_loops`."""
    again = {"type": "goto", "node": "menu", "limit": 1}
    flow = outline("menu", **{**ENDS, "menu": {**MENU, "noInput": "again"}, "again": again})
    story = pass_deadline(pass_deadline(run_flow(flow), flow), flow)
    assert (story.state, story.call.reason) == ("ending", "too_many_loops")


def test_an_endless_flow_ends() -> None:
    """The visits of each node are counted."""
    flow = outline("menu", menu={**MENU, "noInput": "menu", "invalid": "menu"}, **ENDS)
    story, rounds = run_flow(flow), 0
    while story.state == "gathering":
        rounds, _ = rounds + 1, pass_deadline(story, flow)
    assert (rounds, story.call.reason) == (MAX_VISITS, "too_many_loops")
    assert story.call.verbs_started < MAX_VERBS


def test_a_value_is_made_to_text_once_for_all_cases() -> None:
    """A condition has up to 40 cases, and a value may be as large as all custom data."""
    cases = [
        {"variable": "custom.a", "operator": operator, "value": "x", "next": "one"}
        for operator in ("eq", "contains", "startsWith", "lt")
    ]
    flow = outline("ask", ask={"type": "condition", "cases": cases * 10, "else": "no"}, **ENDS)
    value = CountedValue("y")
    assert spoken_text(run_flow(flow, custom_data={"a": value})) == "no"
    assert value.count == 1


@pytest.mark.parametrize("kind", ["set", "goto", "condition"])
def test_nodes_without_a_verb_count_as_verbs(kind: str) -> None:
    """A loop of many nodes ends before each has had its visits."""
    count = 2 * MAX_VERBS // MAX_VISITS
    names = [f"n{number}" for number in range(count)]
    kinds: dict[str, Any] = {
        "set": lambda name: {"variables": {"a": 1}, "next": name},
        "goto": lambda name: {"node": name, "limit": 100, "next": name},
        "condition": lambda name: {"cases": [{"variable": "a", "next": name}], "else": name},
    }
    nodes = {
        name: {"type": kind, **kinds[kind](following)}
        for name, following in zip(names, [*names[1:], names[0]], strict=True)
    }
    call = run_flow(outline(names[0], **nodes)).call
    assert (call.reason, call.verbs_started) == ("too_many_verbs", MAX_VERBS)


def test_a_hangup_rejects_a_caller_who_is_not_answered() -> None:
    """With the reason of the node."""
    bye = outline("bye", bye={"type": "hangup", "data": {"reason": "busy"}})
    story = Story(inbound(RUN, answer_deferred=True))
    story.take(CallOpened())
    (load,) = story.commands_of(LoadFlow)
    load_nodes(story, bye, story.take(FlowStarted(load.request, "support", 1, "bye")))
    assert story.commands_of(Hangup) == [Hangup(story.call.main, BUSY)]
