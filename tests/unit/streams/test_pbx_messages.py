"""The texts of Asterisk's websocket, as its module reads and writes them."""

import json

from streams.pbx.messages import PbxEvent, mark_command, read_event


def test_a_mark() -> None:
    """Asterisk returns its key."""
    command = json.loads(mark_command("m1"))
    assert command == {"command": "MARK_MEDIA", "correlation_id": "m1"}
    event = read_event(b'{"event":"MEDIA_MARK_PROCESSED","correlation_id":"m1","channel":"x"}')
    assert event == PbxEvent("MEDIA_MARK_PROCESSED", correlation_id="m1")


def test_what_is_no_event() -> None:
    """It is ignored: a later version of Asterisk may send more."""
    for data in (b"", b"MEDIA_START", b"[]", b'{"event":1}'):
        assert read_event(data) is None
