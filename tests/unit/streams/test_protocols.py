"""The protocols of bots: what their messages mean, and what they are sent."""

import base64
import json
import re
import time
from contextlib import suppress
from typing import Any

import pytest

from streams.bots.protocols.messages import (
    CLEAR,
    IGNORED,
    MAX_MARK_CHARS,
    STOP,
    Action,
    InvalidMessage,
    Mark,
)
from streams.bots.protocols.protocol import BotProtocol, Position, StreamName
from streams.control.service import PROTOCOLS, protocol_of
from wire.streams.setup import BotAddress, Protocol, Resume, StreamSetup

HERE = Position(1840, 5000)
TREE = b'{"type":"hangup"}'


def made(protocol: Protocol, **setup: Any) -> BotProtocol:
    """Return the protocol of a stream."""
    address = BotAddress("wss://bot.example.com", protocol, 16000)
    name = StreamName("c.w1", StreamSetup("ws://pbx/media/1", address, "acme", "c", **setup))
    return protocol_of(name)


def read(protocol: BotProtocol, message: Any) -> object:
    """Return what a message means."""
    return protocol.read_text(json.dumps(message).encode())


@pytest.mark.parametrize(
    "payload", ["-_8A", "+/8A", r"+\/8A", r"+/\r\n8A\n", "-_8", r"-_8\n=", "+/8=", "-_8="]
)
def test_audio_in_any_base64(payload: str) -> None:
    """With line breaks, with the letters of addresses, and without padding; RFC 4648."""
    audio = b"\xfb\xff\x00" if payload.endswith(("A", "n")) and "8A" in payload else b"\xfb\xff"
    text = f'{{"event":"media","media":{{"payload":"{payload}"}}}}'
    assert made("twilio").read_text(text.encode()) == audio
    content = f'{{"type":"playAudio","data":{{"sampleRate":16000,"audioContent":"{payload}"}}}}'
    if len(audio) % 2 == 0:
        assert made("jambonz").read_text(content.encode()) == audio


def test_more_audio_without_padding() -> None:
    """Whatever its length."""
    text = b'{"event":"media","media":{"payload":"-_8A-_8"}}'
    assert made("twilio").read_text(text) == b"\xfb\xff\x00\xfb\xff"


@pytest.mark.parametrize("payload", ["a", "a===", "%%%%", "a b", ""])
def test_other_audio(payload: str) -> None:
    """What is not base64 at all is refused, or empty."""
    text = f'{{"event":"media","media":{{"payload":"{payload}"}}}}'.encode()
    if payload:
        with pytest.raises(InvalidMessage):
            made("twilio").read_text(text)
    else:
        assert made("twilio").read_text(text) == b""


SIZE = 930_000
WHOLE = base64.b64encode(bytes(range(256)) * (SIZE * 3 // 4 // 256)).decode()
MEDIA = '{"event":"%s","type":"playAudio","%s":{"payload":"%s","audioContent":"%s"}%s}'


def cost_s(name: Protocol, event: str, payload: str, more: str = "") -> float:
    """Return the processor time for a message, the least of three."""
    content, data = ("", "media") if name == "twilio" else (payload, "data")
    payload = payload if name == "twilio" else ""
    text = (MEDIA % (event, data, payload, content, more)).encode()
    protocol, costs = made(name), list[float]()
    for _ in range(3):
        began_s = time.thread_time()
        with suppress(InvalidMessage):
            protocol.read_text(text)
        costs.append(time.thread_time() - began_s)
    return min(costs)


@pytest.mark.parametrize("name", ["twilio", "jambonz"])
@pytest.mark.parametrize("event", ["media", "other"])
@pytest.mark.parametrize(
    ("payload", "more"),
    [
        (WHOLE.replace("+", "-").replace("/", "_"), ""),
        (WHOLE.replace("/", r"\/"), ""),
        (r"\/" * (SIZE // 2), ""),
        (r"-\r" * (SIZE // 3), ""),
        ("-_=A" * (SIZE // 4), ""),
        ("-_8", ',"payload":"' + r"\/" * (SIZE // 2) + '"'),
        ("-_8", ',"q":[' + '{"payload":"-_"},' * 55_000 + "1]"),
        ("-_8", ',"q":"' + "\ufffd" * (SIZE // 3)),
        (r"\ud800" * (SIZE // 6), ""),
        (r"\u0041" * (SIZE // 6), ""),
    ],
)
def test_no_message_costs_much_more_than_ordinary_audio(
    name: Protocol, event: str, payload: str, more: str
) -> None:
    """Whatever is in it: all calls of a gateway wait meanwhile. Calls of C are not counted."""
    assert cost_s(name, event, payload, more) < 15 * cost_s(name, "media", WHOLE)


def test_a_message_with_a_byte_order_mark() -> None:
    """Some programs begin each text with it; what is no base64 in a field of their own stays."""
    assert made("twilio").read_text(b'\xef\xbb\xbf{"event":"clear","payload":"a"}') == CLEAR


@pytest.mark.parametrize(
    ("name", "message", "meaning"),
    [
        ("twilio", {"event": "clear", "streamSid": "MZ"}, CLEAR),
        ("twilio", {"event": "mark", "mark": {"name": "a"}}, Mark("a")),
        ("twilio", {"event": "stop"}, STOP),
        ("twilio", {"event": "media", "media": {"payload": "//8="}}, b"\xff\xff"),
        ("twilio", {"event": "other"}, IGNORED),
        ("native", {"event": "clear"}, CLEAR),
        ("native", {"event": "mark", "name": "a"}, Mark("a")),
        ("native", {"event": "mark", "name": "a" * MAX_MARK_CHARS}, Mark("a" * MAX_MARK_CHARS)),
        ("native", {"event": "stop"}, STOP),
        ("native", {"event": "other"}, IGNORED),
        ("vonage", {"action": "clear"}, CLEAR),
        ("vonage", {"action": "notify", "payload": {"a": 1}}, Mark('{"a": 1}')),
        ("vonage", {"action": "other"}, IGNORED),
        ("vonage", {"event": "switchroom"}, IGNORED),
        ("jambonz", {"type": "killAudio"}, CLEAR),
        ("jambonz", {"type": "disconnect"}, STOP),
        ("jambonz", {"type": "mark", "data": {"name": "a"}}, Mark("a")),
        ("jambonz", {"type": "playAudio", "data": {"audioContent": "AAA=",
         "audioContentType": "raw", "sampleRate": "16000"}}, b"\x00\x00"),
        ("jambonz", {"type": "other"}, IGNORED),
    ],
)  # fmt: skip
def test_what_messages_mean(name: Protocol, message: Any, meaning: object) -> None:
    """As each protocol's documentation has them."""
    assert read(made(name), message) == meaning


@pytest.mark.parametrize("name", PROTOCOLS)
def test_each_protocol_carries_actions(name: Protocol) -> None:
    """In the same form."""
    protocol = made(name)
    found = protocol.read_text(b'{"event":"switchroom","action":' + TREE + b"}")
    assert found == Action(TREE)
    text = json.loads(protocol.extension({"state": "started"}, HERE) or b"")
    expected = {"event": "switchroom", "state": "started", "heardMs": 1840, "atMs": 5000}
    assert text | expected == text


@pytest.mark.parametrize(
    ("name", "data"),
    [
        *((name, data) for name in PROTOCOLS for data in (b"", b"<html>", b"[]", b'"x"', b"\xff")),
        ("twilio", b'{"event":"media"}'),
        ("twilio", b'{"event":"media","media":{"payload":"not base64!"}}'),
        ("twilio", b'{"event":"mark"}'),
        ("twilio", b'{"event":"switchroom"}'),
        ("twilio", b'{"event":"mark","mark":{"name":"' + b"a" * (MAX_MARK_CHARS + 1) + b'"}}'),
        ("native", b'{"event":"mark"}'),
        ("vonage", b'{"action":"notify"}'),
        ("jambonz", b'{"type":"mark"}'),
        ("jambonz", b'{"type":"playAudio","data":{"audioContent":"AAA=","sampleRate":8000}}'),
        ("jambonz",
         b'{"type":"playAudio","data":{"audioContent":"AAA=","audioContentType":"wav"}}'),
    ],
)  # fmt: skip
def test_what_is_no_message(name: Protocol, data: bytes) -> None:
    """It has no meaning, and does no harm."""
    with pytest.raises(InvalidMessage):
        made(name).read_text(data)


def test_twilio_takes_no_binary_audio() -> None:
    """The others do."""
    with pytest.raises(InvalidMessage):
        made("twilio").read_binary(b"\xff")
    names: tuple[Protocol, ...] = ("native", "vonage", "jambonz")
    for protocol in (made(name) for name in names):
        assert protocol.read_binary(b"\x01\x02") == protocol.audio(b"\x01\x02", 40) == b"\x01\x02"


def test_twilios_messages() -> None:
    """With the names and types of Twilio's documentation; numbers are texts."""
    protocol = made(
        "twilio", from_="+1", to="+2", parameters={"a": "b"}, resume=Resume("c.w0", 5240, "hi")
    )
    connected, start = map(json.loads, protocol.greeting())
    assert connected == {"event": "connected", "protocol": "Call", "version": "1.0.0"}
    assert start == {
        "event": "start", "sequenceNumber": "1", "streamSid": start["streamSid"],
        "start": {
            "streamSid": start["streamSid"], "accountSid": "acme", "callSid": "c",
            "tracks": ["inbound"], "customParameters": {"a": "b"},
            "mediaFormat": {"encoding": "audio/x-mulaw", "sampleRate": 8000, "channels": 1},
            "switchroom": {
                "stream": "c.w1", "from": "+1", "to": "+2",
                "resume": {"of": "c.w0", "heardMs": 5240, "lastMark": "hi"},
            },
        },
    }  # fmt: skip
    assert re.fullmatch("MZ[0-9a-f]{32}", start["streamSid"])
    media = json.loads(protocol.audio(b"\xff" * 160, 40))
    sid = start["streamSid"]
    payload = base64.b64encode(b"\xff" * 160).decode()
    assert media == {
        "event": "media", "sequenceNumber": "2", "streamSid": sid,
        "media": {"track": "inbound", "chunk": "1", "timestamp": "40", "payload": payload},
    }  # fmt: skip
    mark = json.loads(protocol.mark("hi", HERE, is_cleared=False) or b"")
    assert mark == {
        "event": "mark", "sequenceNumber": "3", "streamSid": sid, "mark": {"name": "hi"}
    }  # fmt: skip
    texts = [
        json.loads(each or b"") for each in (protocol.digit("5", HERE), protocol.farewell(HERE))
    ]
    assert texts == [
        {"event": "dtmf", "sequenceNumber": "4", "streamSid": sid,
         "dtmf": {"track": "inbound_track", "digit": "5"}},
        {"event": "stop", "sequenceNumber": "5", "streamSid": sid,
         "stop": {"accountSid": "acme", "callSid": "c"}},
    ]  # fmt: skip


def test_a_fork_of_the_bot_is_outbound() -> None:
    """As Twilio names the tracks."""
    media = json.loads(made("twilio", track="bot").audio(b"\xff", 0))
    assert media["media"]["track"] == "outbound"


def test_native_messages_have_positions() -> None:
    """And the greeting has all that a bot needs."""
    protocol = made("native", parameters={"a": "b"})
    (start,) = map(json.loads, protocol.greeting())
    assert start == {
        "event": "start", "stream": "c.w1", "account": "acme", "call": "c", "track": "both",
        "rate": 16000, "parameters": {"a": "b"}, "from": "", "to": "",
    }  # fmt: skip
    end = {"heardMs": 1840, "atMs": 5000}
    mark = protocol.mark("hi", HERE, is_cleared=True)
    assert json.loads(mark or b"") == {"event": "mark", "name": "hi", "isCleared": True, **end}
    assert json.loads(protocol.digit("5", HERE) or b"") == {"event": "dtmf", "digit": "5", **end}
    assert json.loads(protocol.farewell(HERE) or b"") == {"event": "stop", **end}
    assert protocol.audio(b"\x01\x02", 0) == b"\x01\x02"


def test_vonages_messages() -> None:
    """Headers are fields of the greeting; what was cleared is not notified."""
    protocol = made("vonage", parameters={"caller": "vip"})
    (start,) = map(json.loads, protocol.greeting())
    assert start == {
        "event": "websocket:connected", "caller": "vip", "content-type": "audio/l16;rate=16000",
        "switchroom": {"stream": "c.w1", "account": "acme", "call": "c", "from": "", "to": ""},
    }  # fmt: skip
    notified = protocol.mark('{"a":1}', HERE, is_cleared=False)
    assert json.loads(notified or b"") == {"event": "websocket:notify", "payload": {"a": 1}}
    assert protocol.mark("1", HERE, is_cleared=True) is None
    digit = json.loads(protocol.digit("5", HERE) or b"")
    assert digit == {"event": "websocket:dtmf", "digit": "5", "duration": 260}
    assert protocol.farewell(HERE) is None


def test_jambonz_messages() -> None:
    """Marks say whether they were played."""
    protocol = made("jambonz", from_="+1", parameters={"a": "b"})
    (start,) = map(json.loads, protocol.greeting())
    assert start == {
        "callSid": "c", "accountSid": "acme", "from": "+1", "to": "", "sampleRate": 16000,
        "mixType": "mono", "metadata": {"a": "b"}, "switchroom": {"stream": "c.w1"},
    }  # fmt: skip
    for is_cleared, event in ((False, "playout"), (True, "cleared")):
        mark = json.loads(protocol.mark("hi", HERE, is_cleared=is_cleared) or b"")
        assert mark == {"type": "mark", "data": {"name": "hi", "event": event}}
    digit = json.loads(protocol.digit("5", HERE) or b"")
    assert digit == {"event": "dtmf", "dtmf": "5", "duration": "200"}
    assert protocol.farewell(HERE) is None
