"""Decoding of events: known, unknown and malformed."""

import json

import msgspec
import pytest

from engine.ari.events import UnknownEvent, decode, decode_event, timestamp_ms
from engine.ari.generated.events import ChannelDestroyed, StasisStart
from engine.ari.generated.models import Playback
from engine.ari.request import Reply

CHANNEL = {
    "id": "c1",
    "name": "PJSIP/trunk-00000001",
    "state": "Up",
    "protocol_id": "x@y",
    "caller": {"name": "", "number": "777"},
    "connected": {"name": "", "number": ""},
    "accountcode": "",
    "dialplan": {"context": "in", "exten": "1", "priority": 1, "app_name": "", "app_data": ""},
    "creationtime": "2026-11-21T04:36:49.259+0000",
    "language": "en",
}


def _event(**fields: object) -> bytes:
    base = {"application": "app", "timestamp": "2026-11-21T04:36:49.461+0000"}
    return json.dumps({**base, **fields}).encode()


def test_an_event_has_its_own_type() -> None:
    """The `type` chooses the class; fields this client does not know are ignored."""
    event = decode_event(_event(type="StasisStart", args=["a"], channel=CHANNEL, new_field=[1]))
    assert isinstance(event, StasisStart)
    assert (event.channel.id, event.args, event.channel.caller.number) == ("c1", ["a"], "777")


def test_optional_fields_may_be_missing() -> None:
    """A channel destroyed without a SIP answer has no tech_cause."""
    data = _event(type="ChannelDestroyed", cause=16, cause_txt="x", channel=CHANNEL)
    event = decode_event(data)
    assert isinstance(event, ChannelDestroyed)
    assert (event.cause, event.tech_cause) == (16, None)


def test_an_unknown_event_is_a_value() -> None:
    """An event of a newer Asterisk does not raise: it is returned undecoded."""
    data = _event(type="ChannelTeleported", channel=CHANNEL)
    assert decode_event(data) == UnknownEvent("ChannelTeleported", data)


@pytest.mark.parametrize("data", [b"{", _event(type="StasisStart"), b'{"no": "type"}', b"[]"])
def test_a_malformed_event_raises(data: bytes) -> None:
    """Invalid JSON or a missing field is a DecodeError."""
    with pytest.raises(msgspec.DecodeError):
        decode_event(data)


def test_a_paused_playback_is_read() -> None:
    """Asterisk has a playback state that its description omits."""
    body = b'{"id":"p","media_uri":"sound:a","target_uri":"channel:c","state":"paused"}'
    assert decode(Reply(200, body), Playback).state == "paused"


def test_timestamps_are_milliseconds() -> None:
    """The zone is written without a colon."""
    assert timestamp_ms("1970-01-01T01:00:01.250+0100") == 1250
