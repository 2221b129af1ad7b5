"""Recordings on the wire: both forms of recordCall, and what a record verb may hold."""

import json
from typing import Any

import msgspec
import pytest

from wire.decoding.errors import BadInput
from wire.rpc import NumberRoute, Originate
from wire.tree import parse_action
from wire.verbs import Record, RecordData

CALL = {"account": "acme", "from": "+4799", "to": "+4711"}
ROUTE = {"account": "acme", "action": {"type": "hangup"}}


@pytest.mark.parametrize(
    ("setting", "is_recorded"),
    [
        ({}, False),
        (True, True),
        (False, False),
        ({"enable": True}, True),
        ({"enable": False}, False),
    ],
)
def test_both_forms_of_record_call(setting: Any, is_recorded: bool) -> None:
    """A boolean, or an object with enable; without one, nothing is recorded."""
    fields = {} if setting == {} else {"recordCall": setting}
    for shape, body in ((Originate, CALL), (NumberRoute, ROUTE)):
        found: Any = msgspec.json.decode(json.dumps({**body, **fields}), type=shape)
        assert found.is_recorded is is_recorded


def record(**data: object) -> Any:
    """Parse a record verb."""
    return parse_action(json.dumps({"type": "record", "data": data}).encode())


def test_a_record_verb_needs_nothing() -> None:
    """Beep, two minutes, five seconds of silence, #."""
    assert parse_action(b'{"type":"record"}') == Record(RecordData())
    data = record().data
    assert (data.beep, data.max_length, data.silence, data.terminator) == (True, 120, 5, "#")


@pytest.mark.parametrize(
    ("data", "path"),
    [
        ({"maxLength": 0}, "data.maxLength"),
        ({"maxLength": 3601}, "data.maxLength"),
        ({"maxLength": 1.5}, "data.maxLength"),
        ({"silence": -1}, "data.silence"),
        ({"silence": 61}, "data.silence"),
        ({"terminator": "##"}, "data.terminator"),
        ({"beep": "yes"}, "data.beep"),
        ({"text": "Hi.", "audioUrl": "https://example.com/a"}, "data.text"),
        ({"audioUrl": "http://example.com/a"}, "data.audioUrl"),
        ({"transcription": True}, "data"),
    ],
)
def test_an_error_has_its_path(data: dict[str, object], path: str) -> None:
    """Invalid record verbs."""
    with pytest.raises(BadInput) as fault:
        record(**data)
    assert fault.value.path.startswith(path)
