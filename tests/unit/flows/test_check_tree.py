"""A tree that is stored as a flow is checked as it would run, with samples in its templates."""

from typing import Any

import pytest

from engine.calls.flows.templates import fill_decoded
from engine.flows.check import check_tree
from tests.harness.calls.builders import HTTPS, say
from tests.unit.flows.checks import Found
from wire.decoding import lenient
from wire.decoding.errors import BadInput, errors_in
from wire.tree import Limits, check_action
from wire.verbs import Action

LIMITS = Limits(sip_hosts=("sip.example",))
ADA = "Hi {{contact.fName}}"


def tree_faults(tree: Any) -> Found:
    """Check a tree; return its fault codes by path."""
    try:
        check_tree(tree, LIMITS)
    except BadInput as error:
        return {each.path: each.code for each in errors_in(error)}
    return {}


def dial(**data: Any) -> dict[str, Any]:
    return {"type": "dial", "data": data}


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        ({"type": "pause", "data": {"length": -1}, "action": say(ADA)}, {"data.length": "invalid"}),
        ({"type": "puase", "data": {"text": ADA}}, {"type": "unknown_verb"}),
        ({"type": "{{custom.verb}}", "data": {}}, {"type": "unknown_verb"}),
        (
            {"type": "play", "data": {"audioUrl": "http://10.0.0.1/{{contact.x}}", "loop": 1000}},
            {"data.loop": "invalid"},
        ),
        (
            {"type": "play", "data": {"audioUrl": ["http://10.0.0.1/{{ contact.x }}"]}},
            {"data.audioUrl[0]": "insecure_url"},
        ),
        (say(action="http://10.0.0.1/{{call.id}}"), {"action": "insecure_url"}),
        (dial(number="sip:{{contact.n}}@evil.example"), {"data.number": "sip_host"}),
        (dial(number=["{{contact.n}}", "me"]), {"data.number[1]": "invalid"}),
        (dial(callerId=ADA), {"data": "invalid"}),
        ({"type": "gather", "data": {"maxDigits": "{{contact.n}}"}}, {"data.maxDigits": "invalid"}),
        (say("Hi {{contact.fName"), {"data.text": "unclosed_template"}),
        (say("Hi", action="https://h.example:0/{{call.id}}"), {"action": "bad_url"}),
        (say("Hi {{contact.fName}} {{"), {"data.text": "unclosed_template"}),
        (say("Hi {{no.such.name}}"), {"data.text": "unknown_variable"}),
        (say("Hi {{secrets.token}}"), {"data.text": "unknown_variable"}),
        (say("Hi {{call.secret}}"), {"data.text": "unknown_variable"}),
        (
            say("{{a}}", action=say("{{b", action={"type": "pause", "data": {}})),
            {"data.text": "unknown_variable", "action.data.text": "unclosed_template",
             "action.action.data.length": "invalid"},
        ),
    ],
)  # fmt: skip
def test_a_faulty_tree_is_rejected(tree: Any, expected: Found) -> None:
    """Templates hide no fault of the tree around them; all faults are reported at once."""
    assert tree_faults(tree) == expected


@pytest.mark.parametrize(
    "tree",
    [
        "{{custom.next}}",
        "https://example.com/{{ contact.id }}?n={{call.from}}",
        say("{{vars.x}} {{answers.lookup.tier}} {{digits}} {{dial.status}}"),
        {"type": "say", "data": {"text": "x", "language": "{{vars.l}}", "voice": "{{vars.v}}"}},
        {"type": "play", "data": {"audioUrl": ["{{record.url}}", "{{custom.base}}/a.wav"]}},
        dial(number="{{contact.phone}}", callerId="{{call.to}}"),
        dial(number=["agent:{{contact.agent}}", "sip:{{contact.n}}@sip.example", "+47{{vars.n}}"]),
        dial(agent_id="{{contact.agent}}", reference_id="{{custom.id}}"),
        {"type": "gather", "data": {"terminator": "{{vars.key}}"}, "action": "{{custom.next}}",
         "onError": "https://{{custom.host}}/e"},
        say("x", action="https://example.{{vars.tld}}:{{vars.port}}/"),
        {"type": "stream", "data": {"url": "wss://{{custom.host}}/"}},
        {"type": "flow", "data": {"flowId": "{{contact.flow}}"}},
        {"type": "hangup", "data": {"reason": "{{vars.reason}}"}},
        dial(number="1234", whisper={"type": "play", "data": {"audioUrl": "{{custom.url}}"}}),
        say("{ } }} {x}"),
        {"type": "play", "data": {"audioUrl": HTTPS, "loop": 2.0}, "timeout": None},
    ],
)  # fmt: skip
def test_a_template_may_stand_for_any_text(tree: Any) -> None:
    """Addresses, parties, names and languages; the same tree without templates is accepted."""
    assert tree_faults(tree) == {}


def test_the_depth_is_limited() -> None:
    """Also with templates."""
    tree: Any = say(ADA)
    for _ in range(50):
        tree = say(action=tree)
    assert list(tree_faults(tree).values()) == ["too_deep"]
    for _ in range(300):
        tree = say(action=tree)
    with pytest.raises(BadInput, match="too deep"):
        check_tree(tree, LIMITS)


def test_filled_in_trees_run() -> None:
    """A tree that passes the check runs if its values fit."""
    tree = {**dial(number="{{contact.phone}}", callerId="{{custom.none}}"), "action": say(ADA)}
    check_tree(tree, LIMITS)
    filled = fill_decoded(tree, {"contact.phone": "+4721930000", "contact.fName": "Ada"}.get)
    check_action(lenient.convert(filled, Action), LIMITS)
