"""Attempts of the webhook log in the ladder of a call."""

from typing import Any

from cli.timeline.ladder import lines
from tests.harness.cli.inbound import read_call, timeline
from wire.webhook_log import AttemptKind, AttemptSummary


def attempt(
    entry_id: str, request_id: str, at_ms: int, kind: AttemptKind = "action", **more: Any
) -> AttemptSummary:
    """Return an attempt of a request, which succeeded."""
    defaults: dict[str, Any] = {"status": 200, "outcome": "succeeded"}
    return AttemptSummary(
        id=entry_id, at_ms=at_ms, kind=kind, request_id=request_id, attempt=1, method="POST",
        url="https://a.example/", took_ms=7, **(defaults | more),
    )  # fmt: skip


def texts(*attempts: AttemptSummary) -> list[str]:
    """Return the lines of the call with attempts."""
    return [line[18:] for line in lines(timeline(attempts))]


def webhook() -> tuple[str, int]:
    """Return the id of the call's webhook request, and when it was sent."""
    return next(
        (each["request"], moment.at_ms)
        for moment in read_call().moments
        for each in moment.commands
        if each["type"] == "send-webhook"
    )


def test_a_response_names_its_attempts() -> None:
    """Both attempts of a request that was repeated; without the log nothing is named."""
    request, at_ms = webhook()
    plain = texts()
    named = texts(attempt("1-0", request, at_ms), attempt("2-0", request, at_ms))
    changed = [(a, b) for a, b in zip(plain, named, strict=True) if a != b]
    assert changed == [(changed[0][0], f"{changed[0][0]} [1-0, 2-0]")]
    assert changed[0][0].startswith("response")


def test_what_a_listener_answered_is_marked() -> None:
    """The row of the request and that of its response say that the address was not requested."""
    request, at_ms = webhook()
    found = texts(
        attempt("1-0", request, at_ms, to_listener=True, status=404, reason="status_404"),
        attempt("2-0", request, at_ms + 9),
        attempt("3-0", request, at_ms + 10, retry_of="1-0", to_listener=True),
    )
    assert sum(text.endswith(" (listener)") for text in found) == 1
    assert any(text.endswith(" [1-0 (listener), 2-0]") for text in found)
    assert any(text.endswith(" [3-0 (listener)]") for text in found)


def test_callbacks_and_repetitions_have_rows() -> None:
    """They are no part of the call: they stand where they happened, also after its end."""
    request, at_ms = webhook()
    call = read_call().call
    late_ms = call.ended_ms + 60_000
    found = texts(
        attempt("1-0", request, at_ms),
        attempt("4-0", request, late_ms, retry_of="1-0"),
        attempt("2-0", f"{call.call_id}.e3", at_ms + 1, "callback", outcome="failed", status=500,
                reason="status_500"),
    )  # fmt: skip
    assert found[-1] == "retry of 1-0: 200 in 7 ms [4-0]"
    assert "status callback e3: status_500 in 7 ms [2-0]" in found[:-2]
