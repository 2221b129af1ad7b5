"""The protocol of recognizers: what their messages mean, and what they are sent."""

import json
from typing import Any

import pytest

from streams.bots.protocols.messages import (
    IGNORED,
    BotMessage,
    Failed,
    InvalidMessage,
    Ready,
    SpeechBegan,
    SpeechStopped,
    Understood,
)
from streams.bots.protocols.protocol import Position, StreamName
from streams.bots.protocols.recognizer import MAX_TEXT_CHARS, RecognizerProtocol
from streams.control.service import protocol_of
from wire.decoding.errors import BadInput
from wire.streams.recognizer import RecognizerStart
from wire.streams.setup import BotAddress, Recognition, StreamSetup

HERE = Position(0, 5000)
GRAMMAR = Recognition("grammar", RecognizerStart(hints=("sales",), silence_ms=300))


def named(protocol: Any, **setup: Any) -> StreamName:
    """Return what a protocol knows of its stream."""
    address = BotAddress("", protocol)
    return StreamName("c.w1", StreamSetup("ws://pbx/media/1", address, "acme", "c", **setup))


def read(message: Any) -> BotMessage:
    """Return what a message means."""
    data = message if isinstance(message, bytes) else json.dumps(message).encode()
    return RecognizerProtocol("acme", GRAMMAR).read_text(data)


FINAL = {"type": "final", "text": "sales", "confidence": 0.9, "startMs": 20, "endMs": 800}


@pytest.mark.parametrize(
    ("message", "meaning"),
    [
        ({"type": "ready", "recognizer": "grammar"}, Ready()),
        ({"type": "speech-started", "atMs": 40}, SpeechBegan(40)),
        ({"type": "speech-ended", "atMs": 800}, SpeechStopped(800)),
        (FINAL, Understood("sales", 0.9)),
        ({"type": "final", "text": "sales"}, Understood("sales", 0.0)),
        ({**FINAL, "confidence": -1}, Understood("sales", 0.0)),
        ({**FINAL, "words": ["sales"], "confidence": 2}, Understood("sales", 1.0)),
        ({**FINAL, "text": "a" * 100_000}, Understood("a" * MAX_TEXT_CHARS, 0.9)),
        ({**FINAL, "type": "interim"}, IGNORED),
        ({"type": "of a later version"}, IGNORED),
        ({"type": "error", "code": "overloaded", "message": "full"},
         Failed("bot-lost", "overloaded: full")),
        ({"type": "error", "code": "failed", "message": "x"}, Failed("bot-lost", "failed: x")),
        ({"type": "error", "code": "idle", "message": "x"}, Failed("bot-lost", "idle: x")),
        ({"type": "error", "code": "unknown-words", "message": "`xyzzy`"},
         Failed("bot-closed", "unknown-words: `xyzzy`")),
        ({"type": "error", "code": "of its own", "message": "x"},
         Failed("bot-closed", "of its own: x")),
        ({"type": "error"}, Failed("bot-lost", "failed: ")),
    ],
)  # fmt: skip
def test_what_messages_mean(message: Any, meaning: BotMessage) -> None:
    """What another attempt may change is lost, all else has ended for good."""
    assert read(message) == meaning


@pytest.mark.parametrize(
    "message",
    [b"", b"<html>", b"[]", b'{"type":1}', b"\xff", {"type": "speech-started"}, {"type": "final"},
     {**FINAL, "text": None}, {"type": "speech-ended", "atMs": "1"}],
)  # fmt: skip
def test_what_is_no_message(message: Any) -> None:
    """It has no meaning, and does no harm."""
    with pytest.raises(InvalidMessage):
        read(message)


def test_a_recognizer_sends_no_audio() -> None:
    """Only texts."""
    with pytest.raises(InvalidMessage):
        RecognizerProtocol("acme", GRAMMAR).read_binary(b"\x00\x00")


def test_what_it_is_sent() -> None:
    """Its start, audio and its stop: nothing else that happens in a call."""
    protocol = protocol_of(named("recognizer", recognition=GRAMMAR, is_fork=True))
    (start,) = map(json.loads, protocol.greeting())
    assert start == {"type": "start", "hints": ["sales"], "silenceMs": 300, "account": "acme"}
    assert protocol.audio_format.name == "slin"
    assert protocol.audio(b"\x01\x02", 0) == b"\x01\x02"
    assert json.loads(protocol.farewell(HERE) or b"") == {"type": "stop"}
    assert protocol.mark("a", HERE, is_cleared=False) is None
    assert protocol.digit("5", HERE) is None
    assert protocol.extension({"text": "hello"}, HERE) is None


@pytest.mark.parametrize(
    ("protocol", "setup", "field"),
    [
        ("recognizer", {"is_fork": True}, "recognition"),
        ("recognizer", {"recognition": GRAMMAR}, "isFork"),
        ("native", {"recognition": GRAMMAR, "is_fork": True}, "recognition"),
    ],
)
def test_fields_that_do_not_fit(protocol: str, setup: dict[str, Any], field: str) -> None:
    """The error names one of them."""
    with pytest.raises(BadInput) as raised:
        protocol_of(named(protocol, **setup))
    assert raised.value.path == field
