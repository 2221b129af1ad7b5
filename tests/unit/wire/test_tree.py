"""Action trees: accepted trees, and the path and text of each error (design section 7, Verbs)."""

from typing import Any

import pytest

from tests.unit.wire.trees import HTTPS, chain, fault, parse
from wire import verbs
from wire.errors import BadInput


def test_every_verb_of_the_specification_is_read() -> None:
    """Play, say, gather, dial (also of a flow), flow and hangup, with their own field names."""
    tree = {
        "type": "play",
        "data": {"audioUrl": [HTTPS, HTTPS]},
        "action": {
            "type": "gather",
            "data": {
                "audioUrl": HTTPS,
                "maxDigits": 4,
                "timeout": 5000,
                "digitTimeout": 1000,
                "terminator": "*",
                "channelId": "0-pbx1-abcdefgh.l0",
                "fallback": {"type": "say", "data": {"text": "No?", "language": "hi-IN"}},
            },
            "action": {
                "type": "dial",
                "data": {"number": "+4721930000", "agent_id": "7", "reference_id": "r"},
                "timeout": 20,
                "moh": {"enable": True},
                "action": {
                    "type": "flow",
                    "data": {"flowId": "f1"},
                    "action": {
                        "type": "dial",
                        "data": {"flowId": "f2"},
                        "action": {"type": "hangup", "data": {}},
                    },
                },
            },
        },
    }
    play = parse(tree)
    assert isinstance(play, verbs.Play)
    assert play.data.audio_url == (HTTPS, HTTPS)
    gather = play.action
    assert isinstance(gather, verbs.Gather)
    assert gather.data.max_digits == 4
    assert isinstance(gather.data.fallback, verbs.Say)
    dial = gather.action
    assert isinstance(dial, verbs.Dial)
    assert (dial.data.agent_id, dial.timeout) == ("7", 20)
    assert isinstance(dial.action, verbs.Flow)
    assert isinstance(dial.action.action, verbs.Dial)
    assert dial.action.action.action == verbs.Hangup()


def test_an_action_may_be_an_address() -> None:
    """`action` is an object or an https URL."""
    assert parse(HTTPS) == HTTPS


FAULTS: list[tuple[Any, str, str]] = [
    ({"type": "sing"}, "action.type", "Invalid value 'sing'; one of play, say, gather, record"),
    ({"type": 5}, "action.type", "Expected `str`"),
    ({"data": {}}, "action.type", "Object missing required field `type`"),
    ([], "action", "Expected `str | object`, got `array`"),
    (None, "action", "Expected `str | object`, got `null`"),
    (5, "action", "Expected `str | object`, got `int`"),
    ({"type": "play"}, "action.data", "Object missing required field `data`"),
    ({"type": "play", "data": {}}, "action.data.audioUrl", "missing required field"),
    ({"type": "play", "data": {"audioUrl": 5}}, "action.data.audioUrl", "got `int`"),
    ({"type": "play", "data": {"audioUrl": "x"}}, "action.data.audioUrl", "an https:// address"),
    ({"type": "play", "data": {"audioUrl": []}}, "action.data.audioUrl", "length >= 1"),
    (
        {"type": "play", "data": {"audioUrl": [HTTPS] * 21}},
        "action.data.audioUrl",
        "length <= 20",
    ),
    (
        {"type": "play", "data": {"audioUrl": [HTTPS, "x"]}},
        "action.data.audioUrl[1]",
        "an https:// address",
    ),
    ({"type": "play", "data": {"audioUrl": HTTPS, "loop": 0}}, "action.data.loop", ">= 1"),
    ({"type": "play", "data": {"audioUrl": HTTPS, "loop": 101}}, "action.data.loop", "<= 100"),
    ({"type": "play", "data": {"audioUrl": HTTPS, "loop": 1.5}}, "action.data.loop", "`int`"),
    ({"type": "play", "data": {"audioUrl": HTTPS, "loop": "2"}}, "action.data.loop", "`int`"),
    ({"type": "pause"}, "action.data", "missing required field `data`"),
    ({"type": "pause", "data": {}}, "action.data.length", "missing required field `length`"),
    ({"type": "pause", "data": {"length": 0}}, "action.data.length", "> 0"),
    ({"type": "pause", "data": {"length": -1}}, "action.data.length", "> 0"),
    ({"type": "pause", "data": {"length": 86_401}}, "action.data.length", "<= 86400"),
    ({"type": "pause", "data": {"length": "5"}}, "action.data.length", "Expected `float`"),
    ({"type": "pause", "data": {"length": 1, "a": 1}}, "action.data.a", "one of length"),
    ({"type": "hangup", "data": {"a": 1}}, "action.data.a", "unknown field `a`"),
    ({"type": "hangup", "extra": 1}, "action.extra", "unknown field `extra`"),
    ({"type": "say", "data": {"text": ""}}, "action.data.text", "length >= 1"),
    ({"type": "say", "data": {"text": "x" * 4001}}, "action.data.text", "length <= 4000"),
    (
        {"type": "say", "data": {"text": "x", "language": "no such"}},
        "action.data.language",
        "expected a language tag such as en or hi-IN",
    ),
    ({"type": "gather", "data": {"maxDigits": 0}}, "action.data.maxDigits", ">= 1"),
    ({"type": "gather", "onError": {"type": "play"}}, "action.onError.data", "missing required"),
    ({"type": "gather", "onError": "x"}, "action.onError", "an https:// address"),
    ({"type": "pause", "data": {"length": 1}, "onError": None}, "action.onError", "unknown field"),
    ({"type": "gather", "data": {"maxDigits": 65}}, "action.data.maxDigits", "<= 64"),
    ({"type": "gather", "data": {"timeout": -1}}, "action.data.timeout", ">= 0"),
    ({"type": "gather", "data": {"timeout": 1.5}}, "action.data.timeout", "Expected `int`"),
    ({"type": "gather", "data": {"timeout": "5"}}, "action.data.timeout", "Expected `int`"),
    ({"type": "gather", "data": {"digitTimeout": 600_001}}, "action.data.digitTimeout", "<= 600"),
    (
        {"type": "gather", "data": {"terminator": "##"}},
        "action.data.terminator",
        'expected one key of 0-9 A-D * #, or "" for none',
    ),
    ({"type": "gather", "timeout": 0}, "action.timeout", "> 0"),
    (
        {"type": "gather", "data": {"fallback": {"type": "x"}}},
        "action.data.fallback.type",
        "Invalid value 'x'; one of",
    ),
    (
        {"type": "gather", "data": {"fallback": HTTPS}},
        "action.data.fallback",
        "Expected `object | null`",
    ),
    ({"type": "dial", "data": {}}, "action.data", "one of number, agent_id or flowId is required"),
    (
        {"type": "dial", "data": {"number": "+4721930000", "flowId": "f"}},
        "action.data.flowId",
        "not together with number",
    ),
    (
        {"type": "dial", "data": {"number": "12 34"}},
        "action.data.number",
        "expected a number such as +4721930000, agent:1001, or sip:user@host",
    ),
    ({"type": "dial", "data": {"number": []}}, "action.data.number", "length >= 1"),
    ({"type": "dial", "data": {"number": ["+4721930000"] * 11}}, "action.data.number", "<= 10"),
    (
        {"type": "dial", "data": {"number": ["+4721930000", "x\n"]}},
        "action.data.number[1]",
        "expected a number",
    ),
    (
        {"type": "dial", "data": {"agent_id": "../x"}},
        "action.data.agent_id",
        "1 to 64 letters, digits, _ or -",
    ),
    (
        {"type": "dial", "data": {"agent_id": "7", "callerId": "1\r\nX: 1"}},
        "action.data.callerId",
        "expected a number such as +4721930000",
    ),
    (
        {"type": "dial", "data": {"agent_id": "7", "timeLimit": 86_401}},
        "action.data.timeLimit",
        "<= 86400",
    ),
    ({"type": "dial", "data": {"agent_id": "7"}, "timeout": True}, "action.timeout", "got `bool`"),
    ({"type": "dial", "data": {"agent_id": "7"}, "timeout": -3}, "action.timeout", "> 0"),
    ({"type": "flow", "data": {"flowId": "a b"}}, "action.data.flowId", "1 to 64 letters"),
    (
        {"type": "play", "data": {"audioUrl": HTTPS}, "action": {"type": "say", "data": {}}},
        "action.action.data.text",
        "missing required field",
    ),
]


@pytest.mark.parametrize(("tree", "path", "message"), FAULTS)
def test_an_error_has_its_path(tree: Any, path: str, message: str) -> None:
    """A 400 names the path of the error (`action.data.audioUrl`) and what is allowed there."""
    found_path, found = fault(tree)
    assert found_path == path
    assert message in found


def test_the_code_tells_programs_what_is_wrong() -> None:
    """Unknown verbs, insecure addresses and depth have codes of their own; the rest is invalid."""
    for tree, code in (
        ({"type": "sing"}, "unknown_verb"),
        ("http://example.com/", "insecure_url"),
        (chain(51), "too_deep"),
        ({"type": "say", "data": {}}, "invalid"),
    ):
        with pytest.raises(BadInput) as caught:
            parse(tree)
        assert caught.value.code == code
