"""What a list shows of a stored call record."""

from typing import Any

import msgspec
import pytest

from api.cdrs.query.pages import CdrRow
from api.cdrs.views import CdrView, cdr_view
from tests.harness.api.cdrs.records import NOON_MS, missed, record, recording
from wire.events.record import CallRecord, RecordingRecord


def view(call: CallRecord, **more: Any) -> CdrView:
    """Return the view of a record."""
    body = msgspec.json.encode(call)
    return cdr_view(CdrRow(1, call.call_id, call.created_ms, "a", "b", "c", body), **more)


@pytest.mark.parametrize(
    ("talked_ms", "seconds"), [(30_000, 30), (30_001, 31), (30_999, 31), (1, 1)]
)
def test_the_time_since_the_answer(talked_ms: int, seconds: int) -> None:
    """It is rounded up to seconds."""
    shown = view(record(1, ended_ms=NOON_MS + 2_000 + talked_ms))
    assert (shown.answered_duration_ms, shown.answered_duration) == (talked_ms, seconds)
    assert shown.duration_ms == 2_000 + talked_ms


def test_a_call_without_an_answer() -> None:
    """It has no time of an answer, and nothing since then."""
    shown = view(missed(1))
    assert (shown.answer_status, shown.answer_time) == ("missed", None)
    assert (shown.answered_duration_ms, shown.answered_duration) == (0, 0)
    levels = (shown.disposition_level1_id, shown.disposition_level2_id, shown.disposition_level3_id)
    assert levels == ("a", "b", "c")
    assert shown.timeline is None
    assert view(missed(1), timeline=[b"{}"]).timeline == (msgspec.Raw(b"{}"),)


@pytest.mark.parametrize(
    ("purposes", "shown"),
    [((), None), (("call",), "call"), (("call", "voicemail"), "voicemail"), (("x",), None)],
)
def test_the_purpose_of_recordings(purposes: tuple[str, ...], shown: str | None) -> None:
    """A voicemail comes before the recording of a call."""
    call = record(1, recordings=tuple(map(recording, purposes)))
    assert view(call).recording_purpose == shown


@pytest.mark.parametrize(
    ("state", "is_signed"), [("archived", True), ("ended", True), ("lost", False)]
)
def test_addresses_of_recordings_are_signed(state: str, *, is_signed: bool) -> None:
    """Of those that are there, for those who may read them; with how far the transcript is."""
    url = "s3://bucket/acme/2026-11-21/0-pbx1-call00000001.wav"
    call = record(1, recordings=(RecordingRecord(url, "call", state, 9_000),))
    transcripts: dict[str, Any] = {"2026-11-21/0-pbx1-call00000001.wav": "done"}
    (shown,) = view(call, sign=lambda *of: " ".join(of), transcripts=transcripts).recordings
    assert shown.signed_url == (f"acme {url}" if is_signed else "")
    assert (shown.url, shown.duration_ms, shown.transcript) == (url, 9_000, "done")
    (shown,) = view(call).recordings
    assert (shown.signed_url, shown.transcript) == ("", None)
