"""What the platform writes about a call is no number of anybody, whatever its digits are."""

import random
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import Any

import msgspec
import pytest
from msgspec import inspect

from engine.calls.model.events import LegAnswered
from engine.calls.model.storage_format import encode_log_entry
from engine.runtime.admission.config import CallIdTails
from tests.unit.wire.phone_numbers.test_spellings import EXAMPLES
from wire.erasure import NumberMatcher
from wire.events.call_events import CallEvent
from wire.events.own_texts import COUNTS, MEASURE, is_own
from wire.events.record import (
    CallRecord,
    GatherRecord,
    LegRecord,
    RecordingRecord,
    StreamRecord,
    TakeoverRecord,
)
from wire.phone_numbers.e164 import e164
from wire.phone_numbers.written_number import InvalidNumber
from wire.webhook_log import AttemptView, LoggedText

REGIONS = ("DK", "NO", "SG", "IS", "LU", "MT", "HK", "EE", "DE", "US", "IN", "NU")
START = datetime(2026, 1, 1, 3, 51, 57, 123_000, tzinfo=UTC)
DAYS = [START + timedelta(days=each, minutes=61 * each) for each in range(0, 365, 3)]
HOSTS = ("20.26.11.30", "[2001:db8:2026:1130::1]")
Document = tuple[str, bytes]  # json or msgpack


def documents(at: datetime, seed: int) -> Iterator[Document]:
    """Yield what is stored of the call of another person, who has no number."""
    source = random.Random(seed)  # the same ids in each run
    at_ms = int(at.timestamp() * 1_000)
    call = f"{seed % 8}-pbx{seed % 3}-{CallIdTails(source.randbytes).new(at_ms)}"
    channel = f"pbx1-{at_ms // 1_000}.{source.randrange(1, 9_999)}"
    url = f"s3://bucket/acme/{at:%Y-%m-%d}/{call}.wav"
    millis = source.randrange(10**6, 10**8)
    host = HOSTS[seed % 2]
    same: dict[str, Any] = {"ring_ms": millis, "talk_ms": millis, "hold_ms": millis}
    sip = f"sip:ada@{host}:{source.randrange(1_024, 65_536)}"
    leg = LegRecord(
        channel, sip, "completed", at_ms, at_ms + millis, **same, answered_duration=4002
    )
    stream = StreamRecord(
        f"{call}.s4", "json", f"{host}:8080", at_ms, at_ms + 1, 20_261_130, "stopped"
    )
    record = CallRecord(
        call, "acme", "pbx1", 3, "inbound", "anonymous", sip, "", (), "completed", at_ms,
        at_ms + millis, **same, legs=(leg,), streams=(stream,), answered_duration=4002,
        answered_duration_ms=4_002_000, hangup_cause=16, sip_code=200,
        gathered=(GatherRecord(at_ms, channel, "", "timeout", None, 0.87654321),),
        recordings=(RecordingRecord(url, "call", "archived", millis),),
        takeovers=(TakeoverRecord(at_ms, "pbx1-5f3a01-4002", 20_261_130),),
    )  # fmt: skip
    event = CallEvent(
        f"{call}-17", "completed", 4002, at_ms, call, "acme", "completed", "inbound", "anonymous",
        sip, channel_id=channel, session_id=f"{call}.c12", duration=4002, recording_url=url,
        recording_duration=4002, version=4002, record=record,
    )  # fmt: skip
    body = msgspec.json.encode(event)
    yield "json", body
    answer = {
        "at": at.isoformat(),
        "local": f"{at:%Y-%m-%d %H:%M:%S}",
        "id": source.randbytes(8).hex(),
    }
    attempt = AttemptView(
        id=f"{at_ms}-{source.randrange(9)}", at_ms=at_ms, kind="callback", request_id=f"{call}.r12",
        attempt=2, call_id=call, method="POST", url=f"https://{host}:8443/hook", status=200,
        took_ms=millis, outcome="succeeded", response_body=LoggedText(str(answer)),
        request_body=LoggedText(body.decode()[:-1], truncated=True),
        request_headers={
            "webhook-timestamp": f"{at_ms // 1_000}",
            "traceparent": f"00-{source.randbytes(16).hex()}-{source.randbytes(8).hex()}-01",
            "Idempotency-Key": f"{call}.r12",
        },
        response_headers={"Date": f"{at:%a, %d %b %Y %H:%M:%S} GMT"},
    )  # fmt: skip
    yield "json", msgspec.json.encode(attempt)
    yield "msgpack", encode_log_entry(at_ms, LegAnswered(channel), (msgspec.Raw(b"\x01"),))  # type: ignore[arg-type]  # only its checksum counts
    yield "json", msgspec.json.encode([20_261_130, 4002, {"atMs": 20_261_130}])


def has_number(matcher: NumberMatcher, document: Document) -> bool:
    kind, body = document
    return matcher.is_in_json(body) if kind == "json" else matcher.is_in_msgpack(body)


def numbers_in(text: str, region: str) -> set[str]:
    """Return all numbers that neighbouring groups of digits in a text could be."""
    groups = re.findall("[0-9]+", text)
    windows = {
        window
        for start in range(len(groups))
        for window in accumulate(groups[start : start + 6])
        if 4 <= len(window) <= 13
    }
    return {found for each in windows if (found := _read(each, region))}


def _read(digits: str, region: str) -> str | None:
    try:
        return e164(digits, region)
    except InvalidNumber:
        return None


@pytest.mark.parametrize("region", REGIONS)
def test_no_digits_of_a_call_are_a_number(region: str) -> None:
    """Neither of ids, times and addresses, nor of neighbours of these."""
    for seed in (0, 1):
        for document in documents(DAYS[111 - 47 * seed], seed):
            for number in numbers_in(document[1].decode(errors="replace"), region):
                assert not has_number(NumberMatcher(number, region), document), (number, document)


@pytest.mark.parametrize("region", REGIONS)
def test_days(region: str) -> None:
    """The calls of a day stay, although the number of a person is written as the day."""
    for seed, at in enumerate(DAYS):
        found = {
            _read(f"{at:{each}}", region) for each in ("%Y%m%d", "%d%m%Y", "%m%d%H%M", "%H%M%S")
        }
        for number in filter(None, found):
            for document in documents(at, seed):
                assert not has_number(NumberMatcher(number, region), document), (number, document)


def test_example_numbers() -> None:
    """Of all countries, in the documents of many days."""
    all_documents = [each for seed, at in enumerate(DAYS[::13]) for each in documents(at, seed)]
    found = [
        (number, document)
        for region, number in EXAMPLES
        for document in all_documents
        if has_number(NumberMatcher(number, region), document)
    ]
    assert found == []


def test_numbers_of_events_have_known_names() -> None:
    """A new one has to be named as a time, or in COUNTS."""
    names = {*_numeric_names(inspect.type_info(CallEvent))}
    assert len(names) > 20
    assert [each for each in names if not is_own(each, 1)] == []
    assert COUNTS - names == set()
    assert all(is_own(f"x{MEASURE}", each) for each in (1, 1.5))


def _numeric_names(shape: inspect.Type) -> Iterator[str]:
    """Yield the names of numbers in a shape, and in the shapes of its parts."""
    for field in getattr(shape, "fields", ()):
        for kind in _kinds(field.type):
            if isinstance(kind, inspect.IntType | inspect.FloatType):
                yield field.encode_name
            yield from _numeric_names(kind)


def _kinds(kind: inspect.Type) -> Iterator[inspect.Type]:
    if isinstance(kind, inspect.UnionType):
        for each in kind.types:
            yield from _kinds(each)
    elif isinstance(kind, inspect.VarTupleType):
        yield from _kinds(kind.item_type)
    else:
        yield kind
