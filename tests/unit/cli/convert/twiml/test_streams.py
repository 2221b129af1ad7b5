"""TwiML's Connect, Start and Stop become the verb `stream`, or are named with their line."""

import json
from typing import Any

import pytest

from cli.convert.context import Context
from cli.convert.twiml.convert import convert
from wire.tree import Limits, parse_action

BOT = "wss://bot.example.com/call"
NEXT = "https://example.com/next"
AT_HOME = Context(base_url="https://example.com/ivr/start")
LIMITS = Limits(allow_insecure=True)
SAY: dict[str, Any] = {"type": "say", "data": {"text": "Bye."}}
TALK: dict[str, Any] = {"type": "stream", "data": {"url": BOT}}


def converted(verbs: str, context: Context | None = None) -> tuple[Any, list[str], list[str]]:
    """Return the tree, which engines accept, the losses, and the differences, with their lines."""
    found = convert(f"<Response>\n{verbs}</Response>".encode(), context or Context())
    parse_action(json.dumps(found.action).encode(), LIMITS)
    lost, noted = (
        [f"{each.line}: {each.text}" for each in found.remarks if each.is_lost is is_lost]
        for is_lost in (True, False)
    )
    return found.action, lost, noted


def fork(track: str) -> dict[str, Any]:
    return {"url": BOT, "fork": True, "track": track}


def test_a_bot_is_connected() -> None:
    """With its parameters; what follows in the document follows the conversation."""
    stream = f'<Stream url="{BOT}"><Parameter name="plan" value="gold"/></Stream>'
    tree, lost, noted = converted(f"<Connect>{stream}</Connect><Say>Bye.</Say>")
    data = {"url": BOT, "parameters": {"plan": "gold"}}
    assert (tree, lost, noted) == ({"type": "stream", "data": data, "action": SAY}, [], [])


def test_the_action_of_a_connect_is_requested() -> None:
    """When the conversation has ended; what follows in the document is never reached."""
    tree, lost, noted = converted(
        f'<Connect action="{NEXT}"><Stream url="{BOT}"/></Connect><Say>Bye.</Say>'
    )
    assert (tree, lost) == ({**TALK, "action": NEXT}, [])
    assert any("never reached, because <Connect>" in each for each in noted)


@pytest.mark.parametrize(
    ("track", "expected"),
    [
        ("", "caller"),
        ('track="inbound_track"', "caller"),
        ('track="outbound_track"', "bot"),
        ('track="both_tracks"', "both"),
    ],
)
def test_a_start_forks_the_audio(track: str, expected: str) -> None:
    """The tree goes on at once; that both voices are in one track is named."""
    tree, lost, noted = converted(f'<Start><Stream url="{BOT}" {track}/></Start><Say>Bye.</Say>')
    assert tree == {"type": "stream", "data": fork(expected), "action": SAY}
    assert lost == []
    assert any("one track" in each for each in noted) is (expected == "both")


def test_several_forks_are_one_after_the_other() -> None:
    """In the order of the document."""
    tree, _, _ = converted(
        f'<Start><Stream url="{BOT}"/><Stream url="{BOT}" track="outbound_track"/></Start>'
    )
    second = {"type": "stream", "data": fork("bot")}
    assert tree == {"type": "stream", "data": fork("caller"), "action": second}


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("/listen", "wss://example.com/listen"),
        ("listen?a=b", "wss://example.com/ivr/listen?a=b"),
        ("wss://bot.example.com/call", BOT),
    ],
)
def test_a_relative_address_is_one_of_a_websocket(url: str, address: str) -> None:
    """It is completed by the address of the document."""
    tree, lost, _ = converted(f'<Connect><Stream url="{url}"/></Connect>', AT_HOME)
    assert (tree["data"]["url"], lost) == (address, [])


def test_a_bot_on_this_machine_is_for_development() -> None:
    """As an address without TLS is for webhooks."""
    tree, lost, noted = converted('<Connect><Stream url="ws://127.0.0.1:7860/ws"/></Connect>')
    assert (tree["data"]["url"], lost) == ("ws://127.0.0.1:7860/ws", [])
    assert any("only wss:// is accepted" in each for each in noted)


def test_a_bot_without_tls_elsewhere_is_a_loss() -> None:
    """Engines reject its address."""
    verbs = '<Connect><Stream url="ws://example.com/a"/></Connect>'
    found = convert(f"<Response>{verbs}</Response>".encode())
    assert not found.is_complete
    assert "engines accept wss:// only" in found.remarks[0].text


@pytest.mark.parametrize(
    ("verbs", "text"),
    [
        ("<Connect><Stream/></Connect>", "an absolute wss:// address is required"),
        ('<Connect><Stream url="/a"/></Connect>', "--base-url completes it"),
        (f'<Connect><Stream url="{NEXT}"/></Connect>', "an absolute wss:// address is required"),
        ('<Connect><Stream url="wss://a:b@example.com/a"/></Connect>', "no user and password"),
        ("<Connect/>", "<Connect> has no <Stream>"),
        ('<Connect>\n<ConversationRelay url="wss://a.b"/></Connect>', "3: <ConversationRelay> has"),
        ("<Connect><Room>a</Room></Connect>", "<Room> has no counterpart"),
        (f'<Connect><Stream url="{BOT}"/><Stream url="{BOT}"/></Connect>', "has one <Stream>"),
        (f'<Connect><Stream url="{BOT}" track="both_tracks"/></Connect>', "hears the caller"),
        (f'<Connect><Stream url="{BOT}" connectorName="a"/></Connect>', "connectorName"),
        (f'<Connect><Stream url="{BOT}" statusCallback="/s"/></Connect>', "the event `stream`"),
        (f'<Connect><Stream url="{BOT}">a</Stream></Connect>', "<Stream> has a text"),
        (f'<Connect><Stream url="{BOT}"><Say>a</Say></Stream></Connect>', "<Say> in <Stream>"),
        (f'<Connect><Stream url="{BOT}"><Parameter/></Stream></Connect>', "with a name"),
        (f'<Start><Stream url="{BOT}" track="left"/></Start>', "track: expected inbound_track"),
        ("<Start><Siprec/></Start>", "<Siprec> has no counterpart"),
        ("<Start><Transcription/></Start>", "forks the audio to a program of your own"),
        ('<Stop>\n<Stream name="a"/></Stop>', "3: <Stream> in <Stop> is left out: `switchroom"),
        ("<Stop><Siprec/></Stop>", "<Siprec> in <Stop>"),
        (f'<Stream url="{BOT}"/>', "it belongs into <Connect> or <Start>"),
    ],
)
def test_a_loss_is_named(verbs: str, text: str) -> None:
    """With its line, and what to use instead."""
    _, lost, _ = converted(verbs)
    assert any(text in each for each in lost), lost


def test_a_name_is_a_difference() -> None:
    """Streams have ids; only a Stop, which is named itself, needs the name."""
    _, lost, noted = converted(f'<Start><Stream url="{BOT}" name="a"/></Start>')
    assert lost == []
    assert any("name is left out" in each for each in noted)


def test_more_parameters_than_a_stream_has_are_named() -> None:
    """As a tree that engines reject."""
    written = "".join(f'<Parameter name="p{each}" value="1"/>' for each in range(33))
    found = convert(
        f'<Response><Connect><Stream url="{BOT}">{written}</Stream></Connect></Response>'.encode()
    )
    assert any("engines reject the tree: data.parameters" in each.text for each in found.remarks)
