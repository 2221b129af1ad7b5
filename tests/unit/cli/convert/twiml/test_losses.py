"""Each part of a TwiML document is in the tree, or named with its line."""

import json
from typing import Any

import pytest

from cli.convert.twiml.convert import convert
from wire.tree import Limits, parse_action

NEXT = "https://example.com/next"
LIMITS = Limits(sip_hosts=("example.com",))
BYE: dict[str, Any] = {"type": "say", "data": {"text": "Bye."}}


def converted(verbs: str) -> tuple[Any, list[str], list[str]]:
    """Return the tree, which engines accept, the losses, and the differences, with their lines."""
    found = convert(f"<Response>\n{verbs}</Response>".encode())
    parse_action(json.dumps(found.action).encode(), LIMITS)
    lost, noted = (
        [f"{each.line}: {each.text}" for each in found.remarks if each.is_lost is is_lost]
        for is_lost in (True, False)
    )
    return found.action, lost, noted


@pytest.mark.parametrize(
    ("verbs", "text"),
    [
        (f'<Record action="{NEXT}" transcribe="true"/>', "2: <Record> transcribe"),
        (f'<Record action="{NEXT}" transcribeCallback="/t"/>', "2: <Record> transcribeCallback"),
        (f'<Record action="{NEXT}" trim="trim-silence"/>', "2: <Record> trim"),
        (
            f'<Record action="{NEXT}" recordingStatusCallback="/r"/>',
            "2: <Record> recordingStatusCallback",
        ),
        (f'<Record action="{NEXT}" playBeep="no"/>', "playBeep: true or false"),
        (f'<Record action="{NEXT}"><Say>a</Say></Record>', "<Say> in <Record> is left out"),
        (f'<Record action="{NEXT}"/>\n<Say>Nothing?</Say>', "3: <Say> after <Record>"),
        (
            "<Dial><Number statusCallback='/s'>+4722222222</Number></Dial>",
            "<Number> statusCallback",
        ),
        ("<Dial hangupOnStar='true'>+4722222222</Dial>", "hangupOnStar"),
        ("<Dial sequential='true'>+4722222222</Dial>", "nest dials"),
        ("<Dial answerOnBridge='true'>+4722222222</Dial>", '"answer": false'),
        (
            "<Dial><Number machineDetection='Enable'>+4722222222</Number></Dial>",
            "docs/answering.md",
        ),
        ("<Dial><Sip>sip:bob@example.com?x-h=1</Sip></Dial>", "headers are not converted: x-h=1"),
        ("<Dial><Sip>4722222222</Sip></Dial>", "sip:user@host is expected"),
        ("<Dial><Client>ann lee</Client></Dial>", "'ann lee' cannot be called"),
        (
            "<Dial><Client><Identity>ann</Identity><Parameter name='a'/></Client></Dial>",
            "<Parameter> in <Client>",
        ),
        ("<Dial>\n<Conference>room</Conference></Dial>", "3: <Conference> has no counterpart"),
        ("<Dial><Conference>room</Conference></Dial>", "conference/add-members"),
        ("<Enqueue>support</Enqueue>", "ring a group of agents"),
        ("<Hangup>now</Hangup>", "<Hangup> has a text"),
        (f'<Gather action="{NEXT}">\n<Dial>+4722222222</Dial></Gather>', "3: <Dial> in <Gather>"),
        (f'<Gather action="{NEXT}" bargeIn="false"/>', "bargeIn"),
        (f'<Play digits="ww1">{NEXT}</Play>', "digits are not converted"),
        ('<Play digits="ww1"/>', "digits are not converted"),
        (f"<Play><Say>a</Say>{NEXT}</Play>", "<Say> in <Play> is left out"),
        ("<Redirect>https://user:secret@example.com/a</Redirect>", "no user and password"),
        ('<Say voice="Polly.Liv">Hei.</Say>', "the language of voice Polly.Liv"),
        ('<Say>a<break time="1s" x="y"/></Say>', "<break> x is not converted"),
    ],
)
def test_a_loss_is_named(verbs: str, text: str) -> None:
    """With its line; the exit status says so."""
    _, lost, _ = converted(verbs)
    assert any(text in each for each in lost), lost


def test_an_address_that_engines_reject_is_a_loss() -> None:
    """Plain http is accepted only on the machine itself, and no tree with it elsewhere."""
    for host, is_lost in (("example.com", True), ("127.0.0.1", False), ("localhost:8080", False)):
        found = convert(f"<Response><Redirect>http://{host}/a</Redirect></Response>".encode())
        assert found.is_complete is not is_lost
        assert "https://" in found.remarks[0].text


@pytest.mark.parametrize(
    "verbs",
    [
        f'<Record action="{NEXT}" transcribe="false" trim="do-not-trim" playBeep="true"/>',
        f'<Gather action="{NEXT}" bargeIn="true" method="POST"/>',
        '<Dial hangupOnStar="false" answerOnBridge="false">+4722222222</Dial>',
        '<Dial record="do-not-record">+4722222222</Dial>',
    ],
)
def test_what_a_tree_does_anyway_is_no_loss(verbs: str) -> None:
    """An attribute may say what is so by default."""
    assert converted(verbs)[1] == []


@pytest.mark.parametrize(
    ("before", "name"),
    [
        (f'<Dial action="{NEXT}">+4722222222</Dial>', "Dial"),
        (f'<Gather action="{NEXT}" actionOnEmptyResult="true"/>', "Gather"),
        ("<Hangup/>", "Hangup"),
    ],
)
def test_what_is_never_reached_is_left_out(before: str, name: str) -> None:
    """It is named with its line, without remarks as if it were converted, and is no loss."""
    tree, lost, noted = converted(f"{before}\n<Record/>")
    assert "record" not in json.dumps(tree)
    assert lost == []
    text = f"3: <Record> is left out: never reached, because <{name}> is before it"
    assert [each for each in noted if each.startswith("3:")] == [text]


def test_an_address_follows_a_gather_without_digits() -> None:
    """A fallback is a verb: it redirects the call."""
    tree, lost, _ = converted(f'<Gather action="{NEXT}"/><Redirect>{NEXT}</Redirect>')
    assert lost == []
    assert tree["data"]["fallback"] == {"type": "redirect", "data": {"url": NEXT}}


@pytest.mark.parametrize(
    ("prompts", "kinds", "data"),
    [
        ('<Say>Bye.</Say><Pause length="3"/>', [], {"text": "Bye.", "timeout": 8_000}),
        ("<Pause/>", [], {"timeout": 6_000}),
        ('<Say loop="3">Bye.</Say>', ["say", "say"], {"text": "Bye.", "timeout": 5_000}),
        (f'<Play loop="3">{NEXT}</Play>', ["play"], {"audioUrl": NEXT, "timeout": 5_000}),
        ("<Say>Bye<break/>.</Say>", ["say"], {"timeout": 5_000}),
        ("<Say>Bye<break/>.</Say><Pause/>", ["say"], {"timeout": 6_000}),
    ],
)
def test_each_prompt_of_a_gather_is_heard(
    prompts: str, kinds: list[str], data: dict[str, object]
) -> None:
    """Repeated ones and SSML are verbs before it; a pause at the end lengthens the wait."""
    tree, lost, _ = converted(f'<Gather action="{NEXT}">{prompts}</Gather>')
    assert lost == []
    found = []
    while tree["type"] != "gather":
        found.append(tree["type"])
        tree = tree["action"]
    assert found == kinds
    rest = {"fallback": {"type": "hangup", "data": {}}, "digitTimeout": 5_000}
    assert tree["data"] == {**rest, **data}


def test_loops_for_ever_are_the_longest() -> None:
    """As many as a tree has room for, with a remark."""
    tree, lost, noted = converted('<Say loop="0">Bye.</Say>')
    assert (json.dumps(tree).count("Bye."), lost) == (10, [])
    assert any("becomes 10" in each for each in noted)


def test_a_client_keeps_its_name() -> None:
    """Hyphens in it are no separators of a number."""
    assert converted("<Dial><Client>anna-b</Client></Dial>")[0]["data"]["number"] == "agent:anna-b"


@pytest.mark.parametrize("encoding", ["utf-16", "UTF-16LE", "utf-32"])
def test_a_declaration_that_was_copied(encoding: str) -> None:
    """What is UTF-8 is read as such, although a program declares UTF-16."""
    declaration = f'<?xml version="1.0" encoding="{encoding}"?>'
    found = convert(f"{declaration}<Response><Say>Blåbær</Say></Response>".encode())
    assert isinstance(found.action, dict)
    assert found.action["data"]["text"] == "Blåbær"


def test_a_prefix_of_elements() -> None:
    """Some serializers write one."""
    found = convert(b'<x:Response xmlns:x="urn:a"><x:Say>Hello</x:Say></x:Response>')
    assert found.is_complete
    assert isinstance(found.action, dict)
    assert found.action["data"]["text"] == "Hello"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1", "windows-1252"])
def test_encodings_and_entities_are_read(encoding: str) -> None:
    """An XML declaration names the encoding; references to characters are resolved."""
    declaration = f'<?xml version="1.0" encoding="{encoding}"?>'
    text = f"{declaration}<Response><Say>Bl&#229;bær &amp; øl</Say></Response>"
    found = convert(text.encode(encoding))
    assert found.action == {"type": "say", "data": {"text": "Blåbær & øl"}}
