"""Timestamps, cursors, lines of files, events."""

import msgspec
import pytest

from api.cdrs.event_writer import decode_event
from api.cdrs.exports import csv_lines
from api.cdrs.query.pages import CdrRow, decode_cursor, encode_cursor
from api.cdrs.views import cdr_view
from api.common.timestamps import format_ms, parse_ms
from tests.harness.api.cdrs.records import NOON_MS, events_of, record
from wire.decoding.errors import BadInput


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-21T12:00:00Z",
        "2026-11-21T12:00",
        "2026-11-21T12:00:00.0004",
        "2026-11-21T13:00:00+01:00",
        "2026-11-21T13:00:00 0100",
        "2026-11-21T07:00:00-05:00",
    ],
)
def test_times(text: str) -> None:
    """With a zone, or in UTC; an unescaped plus is accepted."""
    assert parse_ms(text) == NOON_MS
    assert format_ms(NOON_MS) == "2026-11-21T12:00:00.000Z"


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (NOON_MS - 1, "2026-11-21T11:59:59.999Z"),
        (NOON_MS + 61_007, "2026-11-21T12:01:01.007Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
    ],
)
def test_times_are_shown_to_the_millisecond(ms: int, text: str) -> None:
    """Also around the start of a minute."""
    assert format_ms(ms) == text


def test_cursors() -> None:
    """Only encoded cursors are decoded."""
    assert decode_cursor(encode_cursor((NOON_MS, 7))) == (NOON_MS, 7)
    for odd in ("", "x", "MS4", "é", "MTIz", encode_cursor((NOON_MS, 7))[:-2]):
        with pytest.raises(BadInput):
            decode_cursor(odd)


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("=1+1", "'=1+1"),
        ("-1", "'-1"),
        ("@x", "'@x"),
        ("+47 22", "'+47 22"),
        ("+4722222222", "+4722222222"),
        ("plain", "plain"),
    ],
)
def test_formulas(given: str, written: str) -> None:
    """A formula is escaped with an apostrophe; a number is not."""
    call = record(1, reason=given)
    row = CdrRow(1, call.call_id, NOON_MS, None, None, None, msgspec.json.encode(call))
    assert f",callee,{written},".encode() in csv_lines([cdr_view(row)])


def test_a_formula_in_a_timeline() -> None:
    """Programs that separate cells by semicolons find one inside the JSON."""
    call = record(1)
    row = CdrRow(1, call.call_id, NOON_MS, None, None, None, msgspec.json.encode(call))
    assert b";'=1+1" in csv_lines([cdr_view(row, [b'{"text":";=1+1"}'])])


def test_events_of_other_versions() -> None:
    """Unknown kinds and fields are stored; a newer version raises."""
    event = msgspec.to_builtins(events_of(record(1))[0]) | {"event": "sung", "pitch": "high"}
    read = decode_event(msgspec.json.encode(event))
    kept = msgspec.json.decode(read.body)
    assert (kept["event"], kept["pitch"], read.sequence_number) == ("sung", "high", 0)
    assert "accountId" not in kept
    with pytest.raises(msgspec.DecodeError):
        decode_event(msgspec.json.encode(event | {"version": 2}))
