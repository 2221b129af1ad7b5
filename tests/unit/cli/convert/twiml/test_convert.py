"""TwiML becomes trees that engines accept, and what has no counterpart is named with its line."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.convert.result import MAX_BYTES, DocumentError
from cli.convert.twiml.convert import convert
from wire.tree import Limits, parse_action

LIMITS = Limits(sip_hosts=("example.com",))
NEXT = "https://example.com/next"
REDIRECT = {"type": "redirect", "data": {"url": NEXT}}
SAY: dict[str, Any] = {"type": "say", "data": {"text": "Hello."}}
HANGUP: dict[str, Any] = {"type": "hangup", "data": {}}
DIAL = (
    f'<Dial timeout="9" timeLimit="60" callerId="+4721930000" action="{NEXT}">'
    "<Number>+4722222222</Number><Sip>sip:bob@example.com;transport=tls</Sip>"
    "<Client><Identity>anna</Identity></Client></Dial>"
)
RECORD = f'<Record action="{NEXT}" maxLength="30" timeout="3" finishOnKey="*" playBeep="false"/>'


def converted(verbs: str) -> Any:
    """Return the tree of verbs without a loss; an engine accepts it."""
    found = convert(f"<Response>{verbs}</Response>".encode())
    assert found.is_complete, found.remarks
    parse_action(json.dumps(found.action).encode(), LIMITS)
    return found.action


def remarks(verbs: str) -> list[tuple[int, str, bool]]:
    found = convert(f"<Response>\n{verbs}</Response>".encode())
    return [(each.line, each.text, each.is_lost) for each in found.remarks]


@pytest.mark.parametrize(
    ("verbs", "tree"),
    [
        ("", HANGUP),
        ("<Say>Hello.</Say>", SAY),
        ("<Say>\n  Hello.\n</Say>", SAY),
        ("<!-- a note --><Say><![CDATA[Hello.]]></Say>", SAY),
        (
            '<Say language="nb-NO">Hei.</Say>',
            {"type": "say", "data": {"text": "Hei.", "language": "nb-NO"}},
        ),
        ('<Say loop="2">Hello.</Say>', {**SAY, "action": SAY}),
        ("<Say>Hello.</Say><Hangup/>", {**SAY, "action": HANGUP}),
        (f"<Say>Hello.</Say><Redirect>{NEXT}</Redirect>", {**SAY, "action": REDIRECT}),
        (f"<Redirect>{NEXT}</Redirect>", REDIRECT),
        (
            f'<Play loop="3">{NEXT}</Play>',
            {"type": "play", "data": {"audioUrl": NEXT, "loop": 3}},
        ),
        (
            '<Say>A <break time="1s"/><sub alias="b &amp; c">B</sub> &lt; C</Say>',
            {
                "type": "say",
                "data": {
                    "text": 'A <break time="1s"></break><sub alias="b &amp; c">B</sub> &lt; C',
                    "ssml": True,
                },
            },
        ),
        (
            '<Say voice="Google.nb-NO-Wavenet-A">Hei.</Say>',
            {"type": "say", "data": {"text": "Hei.", "language": "nb-NO"}},
        ),
        ('<Say voice="Polly.Joanna-Neural">Hello.</Say>', SAY),
        ("<Pause/>", {"type": "pause", "data": {"length": 1}}),
        ('<Pause length="7"/>', {"type": "pause", "data": {"length": 7}}),
        ('<Pause length="0"/><Say>Hello.</Say>', SAY),
        ('<Reject reason="busy"/>', {"type": "hangup", "data": {"reason": "busy"}}),
        (
            "<Dial>+47 22-22 22 22</Dial>",
            {"type": "dial", "data": {"number": "+4722222222"}, "timeout": 30},
        ),
        (
            DIAL,
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
        (
            RECORD,
            {
                "type": "record",
                "data": {"maxLength": 30, "silence": 3, "terminator": "*", "beep": False},
                "action": NEXT,
            },
        ),
    ],
)
def test_a_verb_is_converted(verbs: str, tree: object) -> None:
    """Verbs in sequence become nested ones, and each attribute its field."""
    assert converted(verbs) == tree


def test_a_gather_without_digits_goes_on() -> None:
    """What follows it in the document is its fallback; without anything, the call ends."""
    gather = f'<Gather numDigits="4" timeout="3" finishOnKey="" action="{NEXT}">{{}}</Gather>'
    data = {"timeout": 3000, "digitTimeout": 3000, "maxDigits": 4, "terminator": ""}
    expected = {"type": "gather", "data": {**data, "fallback": SAY}, "action": NEXT}
    assert converted(f"{gather.format('')}<Say>Hello.</Say>") == expected
    assert converted(gather.format(""))["data"]["fallback"] == HANGUP
    prompt = converted(gather.format("<Say>Digits?</Say>"))["data"]
    assert prompt["text"] == "Digits?"
    prompt = converted(gather.format(f"<Play>{NEXT}</Play>"))["data"]
    assert prompt["audioUrl"] == NEXT
    whole = converted(f'<Gather actionOnEmptyResult="true" action="{NEXT}"/>')
    assert "fallback" not in whole["data"]


def test_earlier_prompts_of_a_gather_come_before_it() -> None:
    """They are verbs of their own; keys pressed meanwhile are kept."""
    prompts = f"<Say>Hello.</Say><Pause/><Play>{NEXT}</Play>"
    tree = converted(f'<Gather action="{NEXT}">{prompts}</Gather>')
    assert (tree["type"], tree["action"]["type"], tree["action"]["action"]["type"]) == (
        "say",
        "pause",
        "gather",
    )


@pytest.mark.parametrize(
    ("verbs", "text"),
    [
        ("<Enqueue>support</Enqueue>", "<Enqueue> has no counterpart"),
        ("<Dial><Conference>room</Conference></Dial>", "<Conference> has no counterpart"),
        ("<Dial></Dial>", "<Dial> has no party"),
        ("<Dial>anna@home</Dial>", "cannot be called"),
        ('<Dial><Number url="/w">+4722222222</Number></Dial>', "whisper"),
        ('<Dial><Number sendDigits="1">+4722222222</Number></Dial>', "sendDigits"),
        ('<Dial callerId="client:x">+4722222222</Dial>', "callerId"),
        ("<Play>/menu.mp3</Play>", "an absolute https:// address"),
        ("<Say></Say>", "has no text"),
        ("<Say>a<phoneme>b</phoneme></Say>", "<phoneme> in a text"),
        ('<Say language="!">a</Say>', "language"),
        (f"<Say>{'a' * 4001}</Say>", "engines reject the tree: data.text"),
        ("<Gather/>", "has no action"),
        (f'<Gather input="voice" action="{NEXT}"/>', "dtmf, speech or both"),
        ('<Pause length="soon"/>', "a number is expected"),
        ('<Reject reason="tired"/>', "rejected or busy"),
        ("text", "has text beside its verbs"),
        ('<Dial record="record-from-answer">+4722222222</Dial>', "recordCall"),
        ("<Record/>", "has no action"),
    ],
)
def test_what_is_lost_is_named(verbs: str, text: str) -> None:
    """The line, the element and what to do; the conversion is then not complete."""
    found = [(line, said) for line, said, is_lost in remarks(verbs) if is_lost]
    assert any(text in said for _, said in found), found
    assert all(line in {1, 2} for line, _ in found)


@pytest.mark.parametrize(
    ("verbs", "text"),
    [
        ('<Say voice="alice">a</Say>', "voice"),
        (f'<Say>a</Say><Redirect method="GET">{NEXT}</Redirect>', "always POST"),
        ("<Dial><Sip>sip:b@example.com</Sip></Dial>", "SWITCHROOM_SIP_HOSTS"),
        (f'<Record action="{NEXT}"/>', "'#' ends it"),
        ("<Hangup/><Say>a</Say>", "never reached"),
        ('<Play loop="0">http://127.0.0.1/a.wav</Play>', "becomes 100"),
        ("<Reject/>", '"answer": false'),
    ],
)
def test_a_difference_is_noted(verbs: str, text: str) -> None:
    """The conversion is complete, and says what is different."""
    found = remarks(verbs)
    assert any(text in said for _, said, _ in found), found
    assert not any(is_lost for *_, is_lost in found)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "not XML"),
        (b"<Response><Say>", "not XML"),
        (b"<Say>a</Say>", "<Response> is expected"),
        (b'<?xml version="1.0" encoding="bogus"?><Response/>', "its encoding is not supported"),
        (b'<?xml version="1.0" encoding="rot13"?><Response/>', "its encoding is not supported"),
        (b"\xff\xfe\x00", "not XML"),
        (b'<!DOCTYPE a [<!ENTITY b "c">]><Response><Say>&b;</Say></Response>', "document type"),
        (b'<!DOCTYPE Response SYSTEM "file:///etc/passwd"><Response/>', "document type"),
        (b"<Response>" + b"<a>" * 20 + b"</a>" * 20 + b"</Response>", "nested deeper"),
        (b"<Response>" + b"<Pause/>" * 51 + b"</Response>", "more than 50 verbs"),
        (b"<Response>" + b"<Pause/>" * 8_000 + b"</Response>", "more than 50 verbs"),
        (b"<Response>" + b" " * MAX_BYTES + b"</Response>", "larger than"),
    ],
)
def test_what_is_not_twiml_is_rejected(content: bytes, text: str) -> None:
    """The error says what is wrong; entities are never expanded, and no file is read."""
    with pytest.raises(DocumentError, match=text):
        convert(content)


NAMES = st.sampled_from(
    ["Say", "Play", "Gather", "Dial", "Number", "Sip", "Client", "Record", "Pause", "Hangup",
     "Reject", "Redirect", "Enqueue", "Connect", "Start", "Stop", "Stream", "Parameter"]
)  # fmt: skip
ATTRIBUTES = st.sampled_from(
    ["action", "timeout", "numDigits", "finishOnKey", "loop", "length", "language", "maxLength",
     "callerId", "reason", "input", "timeLimit", "url", "name", "value", "track", "hints",
     "speechTimeout", "bargeIn"]
)  # fmt: skip
VALUES = st.sampled_from(
    ["", "0", "1", "-1", "99999", "#", "12#", NEXT, "/x", "en", "+4722222222", "sip:a@b", "é",
     "wss://example.com/bot", "both_tracks", "speech", "dtmf speech"]
)  # fmt: skip


@st.composite
def elements(draw: st.DrawFn, depth: int = 2) -> str:
    """Return an element with any attributes and children."""
    name = draw(NAMES)
    named = draw(st.dictionaries(ATTRIBUTES, VALUES, max_size=3))
    written = "".join(f' {key}="{value}"' for key, value in named.items())
    children = "".join(draw(st.lists(elements(depth - 1), max_size=2))) if depth else ""
    return f"<{name}{written}>{draw(VALUES)}{children}</{name}>"


@given(st.lists(elements(), max_size=4).map("".join))
def test_every_complete_conversion_is_accepted(verbs: str) -> None:
    """Whatever a document contains, a tree without a loss is one that engines accept."""
    found = convert(f"<Response>{verbs}</Response>".encode())
    if found.is_complete:
        limits = Limits(allow_insecure=True, sip_hosts=("b",))
        parse_action(json.dumps(found.action).encode(), limits)
