"""Action trees: accepted trees, and the path and text of each error."""

from typing import Any

import pytest

from tests.unit.wire.trees import HTTPS, chain, fault, parse
from wire import verbs
from wire.decoding.errors import BadInput


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
    ({"type": "sing"}, "action.type", "invalid value 'sing'; one of play, say, gather, record"),
    ({"type": 5}, "action.type", "expected text"),
    ({"data": {}}, "action.type", "required, but missing"),
    ([], "action", "expected text or an object, got a list"),
    (None, "action", "expected text or an object, got null"),
    (5, "action", "expected text or an object, got a whole number"),
    ({"type": "play"}, "action.data", "required, but missing"),
    ({"type": "play", "data": {}}, "action.data.audioUrl", "required, but missing"),
    ({"type": "play", "data": {"audioUrl": 5}}, "action.data.audioUrl", "got a whole number"),
    ({"type": "play", "data": {"audioUrl": "x"}}, "action.data.audioUrl", "an https:// address"),
    ({"type": "play", "data": {"audioUrl": []}}, "action.data.audioUrl", "at least 1 item"),
    (
        {"type": "play", "data": {"audioUrl": [HTTPS] * 21}},
        "action.data.audioUrl",
        "at most 20 items",
    ),
    (
        {"type": "play", "data": {"audioUrl": [HTTPS, "x"]}},
        "action.data.audioUrl[1]",
        "an https:// address",
    ),
    ({"type": "play", "data": {"audioUrl": HTTPS, "loop": 0}}, "action.data.loop", "at least 1"),
    ({"type": "play", "data": {"audioUrl": HTTPS, "loop": 101}}, "action.data.loop", "at most 100"),
    (
        {"type": "play", "data": {"audioUrl": HTTPS, "loop": 1.5}},
        "action.data.loop",
        "expected a whole number",
    ),
    (
        {"type": "play", "data": {"audioUrl": HTTPS, "loop": "2"}},
        "action.data.loop",
        "expected a whole number",
    ),
    ({"type": "pause"}, "action.data", "required, but missing"),
    ({"type": "pause", "data": {}}, "action.data.length", "required, but missing"),
    ({"type": "pause", "data": {"length": 0}}, "action.data.length", "at least 0.001"),
    ({"type": "pause", "data": {"length": 0.0004}}, "action.data.length", "at least 0.001"),
    ({"type": "pause", "data": {"length": 1e-300}}, "action.data.length", "and at most 86400"),
    ({"type": "pause", "data": {"length": -1}}, "action.data.length", "at least 0.001"),
    ({"type": "pause", "data": {"length": 86_401}}, "action.data.length", "at most 86400"),
    ({"type": "pause", "data": {"length": "5"}}, "action.data.length", "expected a number"),
    ({"type": "pause", "data": {"length": 1, "a": 1}}, "action.data.a", "one of length"),
    ({"type": "hangup", "data": {"a": 1}}, "action.data.a", "unknown field"),
    ({"type": "hangup", "extra": 1}, "action.extra", "unknown field"),
    ({"type": "say", "data": {"text": ""}}, "action.data.text", "at least 1 character"),
    ({"type": "say", "data": {"text": "x" * 4001}}, "action.data.text", "at most 4000 characters"),
    (
        {"type": "say", "data": {"text": "x", "language": "no such"}},
        "action.data.language",
        "expected a language tag such as en or hi-IN",
    ),
    ({"type": "gather", "data": {"maxDigits": 0}}, "action.data.maxDigits", "at least 1"),
    (
        {"type": "gather", "onError": {"type": "play"}},
        "action.onError.data",
        "required, but missing",
    ),
    ({"type": "gather", "onError": "x"}, "action.onError", "an https:// address"),
    ({"type": "pause", "data": {"length": 1}, "onError": None}, "action.onError", "unknown field"),
    ({"type": "gather", "data": {"maxDigits": 65}}, "action.data.maxDigits", "at most 64"),
    ({"type": "gather", "data": {"timeout": -1}}, "action.data.timeout", "at least 0"),
    (
        {"type": "gather", "data": {"timeout": 1.5}},
        "action.data.timeout",
        "expected a whole number",
    ),
    (
        {"type": "gather", "data": {"timeout": "5"}},
        "action.data.timeout",
        "expected a whole number",
    ),
    (
        {"type": "gather", "data": {"digitTimeout": 600_001}},
        "action.data.digitTimeout",
        "at most 600",
    ),
    (
        {"type": "gather", "data": {"terminator": "##"}},
        "action.data.terminator",
        'expected one key of 0-9 A-D * #, or "" for none',
    ),
    ({"type": "gather", "timeout": 0}, "action.timeout", "at least 0.001"),
    (
        {"type": "gather", "data": {"fallback": {"type": "x"}}},
        "action.data.fallback.type",
        "invalid value 'x'; one of",
    ),
    (
        {"type": "gather", "data": {"fallback": HTTPS}},
        "action.data.fallback",
        "expected an object or null",
    ),
    ({"type": "dial", "data": {}}, "action.data", "one of number, agent_id or flowId is required"),
    (
        {"type": "dial", "data": {"number": "+4721930000", "flowId": "f"}},
        "action.data.flowId",
        "not together with number",
    ),
    (
        {"type": "dial", "data": {"number": "12 x4"}},
        "action.data.number",
        "expected a number such as +4721930000, agent:1001, or sip:user@host",
    ),
    ({"type": "dial", "data": {"number": []}}, "action.data.number", "at least 1 item"),
    (
        {"type": "dial", "data": {"number": ["+4721930000"] * 11}},
        "action.data.number",
        "at most 10",
    ),
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
        "at most 86400",
    ),
    (
        {"type": "dial", "data": {"agent_id": "7"}, "timeout": True},
        "action.timeout",
        "got true or false",
    ),
    (
        {"type": "dial", "data": {"agent_id": "7"}, "timeout": -3},
        "action.timeout",
        "at least 0.001",
    ),
    ({"type": "flow", "data": {"flowId": "a b"}}, "action.data.flowId", "1 to 64 letters"),
    (
        {"type": "play", "data": {"audioUrl": HTTPS}, "action": {"type": "say", "data": {}}},
        "action.action.data.text",
        "required, but missing",
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
