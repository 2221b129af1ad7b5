"""Verbs of jambonz become trees that engines accept, and what has no counterpart is named."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.convert.context import Context
from cli.convert.jambonz.convert import convert
from cli.convert.result import MAX_BYTES, DocumentError
from tests.unit.cli.convert.jambonz.conversion import HELLO, LIMITS, NEXT, SAY, converted, lost, run
from wire.tree import parse_action

HANGUP: dict[str, Any] = {"type": "hangup", "data": {}}
REDIRECT = {"type": "redirect", "data": {"url": NEXT}}


@pytest.mark.parametrize(
    ("verbs", "tree"),
    [
        ([], HANGUP),
        ([HELLO], SAY),
        ([{**HELLO, "id": "a"}], SAY),
        ([HELLO, {"verb": "hangup"}], {**SAY, "action": HANGUP}),
        ([{**HELLO, "loop": 2}], {**SAY, "action": SAY}),
        ([{"verb": "say", "text": ["Hello.", "Hi."]}], SAY),
        (
            [{"verb": "say", "text": "<speak>A <break/></speak>"}],
            {"type": "say", "data": {"text": "<speak>A <break/></speak>", "ssml": True}},
        ),
        (
            [{**HELLO, "synthesizer": {"vendor": "google", "language": "nb-NO"}}],
            {"type": "say", "data": {"text": "Hello.", "language": "nb-NO"}},
        ),
        (
            [{"verb": "play", "url": NEXT, "loop": "3"}],
            {"type": "play", "data": {"audioUrl": NEXT, "loop": 3}},
        ),
        (
            [{"verb": "play", "url": [NEXT, NEXT], "timeoutSecs": 9}],
            {"type": "play", "data": {"audioUrl": [NEXT, NEXT]}, "timeout": 9},
        ),
        ([{"verb": "pause", "length": 1.5}], {"type": "pause", "data": {"length": 1.5}}),
        ([{"verb": "redirect", "actionHook": NEXT}], REDIRECT),
        ([{"verb": "answer"}, HELLO], SAY),
        (
            [{"verb": "sip:decline", "status": 486}],
            {"type": "hangup", "data": {"reason": "busy"}},
        ),
        (
            [
                {
                    "verb": "dial", "timeout": 9, "timeLimit": 60, "callerId": "+4721930000",
                    "actionHook": {"url": NEXT, "method": "GET"},
                    "target": [
                        {"type": "phone", "number": "+47 22 22 22 22"},
                        {"type": "sip", "sipUri": "sip:bob@example.com"},
                        {"type": "user", "name": "anna@sip.example.com"},
                    ],
                }
            ],
            {
                "type": "dial",
                "data": {
                    "number": ["+4722222222", "sip:bob@example.com", "agent:anna"],
                    "timeLimit": 60,
                    "callerId": "+4721930000",
                },
                "timeout": 9,
                "action": NEXT,
            },
        ),
    ],
)  # fmt: skip
def test_a_verb_is_converted(verbs: list[dict[str, Any]], tree: object) -> None:
    """Verbs in sequence become nested ones, and each field its field."""
    assert converted(*verbs) == tree


def test_a_single_verb_is_an_application() -> None:
    """It may be sent without an array."""
    assert run(HELLO).action == SAY


def test_options_complete_addresses_and_numbers() -> None:
    """As for other documents."""
    at_home = Context(base_url="https://example.com/app/start", region="US")
    target = [{"type": "phone", "number": "415-123-4567"}]
    tree = converted(
        {"verb": "dial", "target": target, "actionHook": "/done"}, context=at_home
    )  # fmt: skip
    assert (tree["data"]["number"], tree["action"]) == ("+14151234567", "https://example.com/done")
    assert converted({"verb": "play", "url": "a.mp3"}, context=at_home)["data"] == {
        "audioUrl": "https://example.com/app/a.mp3"
    }


def test_a_config_gives_defaults() -> None:
    """To later verbs, as far as they have none of their own."""
    config = {
        "verb": "config",
        "synthesizer": {"vendor": "google", "language": "nb-NO"},
        "recognizer": {"vendor": "google", "language": "en-GB", "hints": ["sales"]},
    }
    gather = {"verb": "gather", "input": ["speech"], "recognizer": {"hints": ["billing"]}}
    prompted = {**gather, "say": {"text": "Hei."}, "actionHook": NEXT}
    tree = converted(config, HELLO, prompted)
    assert tree["data"]["language"] == "nb-NO"
    prompt = tree["action"]
    assert (prompt["type"], prompt["data"]["language"]) == ("say", "nb-NO")
    data = prompt["action"]["data"]
    assert (data["language"], data["hints"]) == ("en-GB", ["billing"])


@pytest.mark.parametrize(
    ("verb", "text"),
    [
        ({"verb": "enqueue", "name": "a"}, "enqueue has no counterpart and is left out: ring"),
        ({"verb": "unheard"}, "unheard has no counterpart and is left out"),
        ({"verb": "say"}, "say has no text"),
        ({"verb": "say", "text": 1}, "texts are expected, not 1"),
        ({**HELLO, "stream": True}, "say stream is not converted"),
        ({**HELLO, "loop": "often"}, "loop: a number is expected, not 'often'"),
        ({**HELLO, "synthesizer": {"language": "!"}}, "say.synthesizer language: a tag"),
        ({"verb": "play", "url": "/a.mp3"}, "an absolute https:// address"),
        ({"verb": "play", "url": NEXT, "seekOffset": 8}, "seekOffset is not converted"),
        ({"verb": "play"}, "play has no audio"),
        ({"verb": "redirect", "actionHook": {"a": 1}}, "actionHook: an address is expected"),
        (
            {"verb": "redirect", "actionHook": {"url": NEXT, "username": "a"}},
            "user and password are left out",
        ),
        ({"verb": "hangup", "headers": {"a": "b"}}, "hangup headers is not converted"),
        ({"verb": "config", "record": {"action": "startCallRecording"}}, "recordCall"),
        ({"verb": "config", "notifyEvents": True}, "notifyEvents is not converted"),
        ({"verb": "dial", "target": []}, "dial has no party"),
        ({"verb": "dial", "target": [{"type": "teams"}]}, "phone, sip, user are expected"),
        ({"verb": "dial", "target": [{"type": "user", "name": "a b"}]}, "cannot be called"),
        (
            {"verb": "dial", "target": [{"type": "phone", "number": "415-123-4567"}]},
            "has no country code",
        ),
        (
            {"verb": "dial", "target": [{"type": "sip", "sipUri": "sip:a@b.c", "auth": {}}]},
            "dial.target auth is not converted: a trunk",
        ),
        ({"verb": "dial", "target": [], "dtmfHook": NEXT}, "digits of a conversation"),
        (
            {
                "verb": "dial", "answerOnBridge": "yes",
                "target": [{"type": "user", "name": "a"}],
            },
            "true or false is expected",
        ),
        (
            {
                "verb": "dial", "answerOnBridge": True,
                "target": [{"type": "user", "name": "a"}],
            },
            '"answer": false',
        ),
        ({"verb": "transcribe", "recognizer": {}}, "a fork with a program of your own"),
    ],
)  # fmt: skip
def test_a_loss_is_named(verb: dict[str, Any], text: str) -> None:
    """With its verb, and what to use instead."""
    found = lost(verb)
    assert any(text in each for each in found), found


def test_remarks_have_the_line_of_their_verb() -> None:
    """Also those on an object in it."""
    document = b'[\n {"verb": "say", "text": "a"},\n\n {"verb": "play",\n  "url": "/a"}\n]'
    (found,) = convert(document).remarks
    assert (found.line, found.text.startswith("play url: ")) == (4, True)


def test_what_follows_a_hook_is_named() -> None:
    """Jambonz runs it if the response is empty; after a hangup it is never reached."""
    gather = {"verb": "gather", "actionHook": NEXT}
    (left_out,) = lost(gather, HELLO)
    assert left_out.startswith("say after gather is left out: jambonz runs it if the response")
    found = run([{"verb": "hangup"}, HELLO])
    assert found.is_complete
    assert any("never reached, because hangup" in each.text for each in found.remarks)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_states_the_encoding(encoding: str) -> None:
    """Editors and shells of Windows write it."""
    document = json.dumps([{"verb": "say", "text": "Åse"}], ensure_ascii=False)
    assert convert(document.encode(encoding)) == convert(document.encode())


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "line 1: not JSON"),
        (b"[{]", "line 1: not JSON"),
        (b'[\n{"verb": "hangup"}\n{"verb": "hangup"}]', "line 3: not JSON: Expecting ','"),
        (b'[{"verb": "hangup"}] x', "line 1: not JSON: Extra data"),
        (b'{"verb": "hangup"} x', "line 1: not JSON: Extra data"),
        (b"\xff", "not UTF-8"),
        (b"[1]", "a verb is expected"),
        (b"null", "a verb is expected"),
        (b'[{"verb": 1}]', "a verb is expected"),
        (b"[" * 60_000, "nested too deep"),
        (b"[" + b'{"verb":"answer"},' * 200 + b'{"verb":"answer"}]', "more than 200 verbs"),
        (b"[" + b'{"verb":"pause","length":1},' * 60 + b'{"verb":"hangup"}]', "more than 50 verbs"),
        (b" " * (MAX_BYTES + 1), "larger than"),
    ],
)
def test_what_is_no_application_is_rejected(content: bytes, text: str) -> None:
    """The error says what is wrong, and where."""
    with pytest.raises(DocumentError, match=text):
        convert(content)


NAMES = st.sampled_from(
    ["say", "play", "gather", "dial", "listen", "pause", "hangup", "redirect", "config", "tag",
     "sip:decline"]
)  # fmt: skip
FIELDS = st.sampled_from(
    ["text", "url", "actionHook", "timeout", "numDigits", "finishOnKey", "input", "loop", "length",
     "recognizer", "synthesizer", "say", "play", "target", "listen", "metadata", "sampleRate",
     "mixType", "bargein", "status", "hints", "language", "vendor", "enable", "type", "number"]
)  # fmt: skip
VALUES = st.recursive(
    st.sampled_from(
        ["", "#", NEXT, "wss://example.com/bot", "en", "speech", "+4722222222", "phone", "mixed",
         0, 1, -1, 99_999, 2.5, 16_000, True, False, None, float("inf")]
    ),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(FIELDS, inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(st.lists(st.tuples(NAMES, st.dictionaries(FIELDS, VALUES, max_size=4)), max_size=4))
def test_every_complete_conversion_is_accepted(verbs: list[tuple[str, dict[str, Any]]]) -> None:
    """Whatever an application contains, a tree without a loss is one that engines accept."""
    found = run([{**fields, "verb": name} for name, fields in verbs])
    if found.is_complete:
        parse_action(json.dumps(found.action).encode(), LIMITS)
