"""Trace context headers of strangers: what is not of the standard's form reaches nothing."""

import logging

import pytest
from opentelemetry.sdk.trace import TracerProvider

from base.otel import OtelRequestTraces, context_headers

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.mark.parametrize(
    "state", ["a=1", "a=1,b=2", "a=1 , b=x y", "0t@acme=1,", "a=" + "v" * 256, "a/b*c-d_e=;~"]
)
def test_what_has_the_form_is_kept(state: str) -> None:
    """Both headers are passed on as they came."""
    given = {"traceparent": PARENT, "tracestate": state}
    assert context_headers(given) == given


@pytest.mark.parametrize(
    "state",
    [
        "",
        "a",
        "a=1,a=2",
        "A=1",
        "a=1=2",
        "a=\x1b[31m",
        "a=é",
        '{"event":"paid"}',
        "a=1" + " " * 8_000 + "x",
        "a=" + "v" * 8_000,
    ],
)
def test_another_state_is_dropped_and_not_logged(
    state: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A stranger writes no lines of our log; the trace goes on."""
    caplog.set_level(logging.DEBUG)
    traces = OtelRequestTraces(TracerProvider())
    with traces.server_span("REST GET", {"traceparent": PARENT, "tracestate": state}):
        sent = traces.headers()
    assert (sent["traceparent"][:35], "tracestate" in sent) == (PARENT[:35], False)
    assert not caplog.records


@pytest.mark.parametrize("parent", ["", "x" * 600, PARENT.upper(), f"{PARENT}\n", f"{PARENT}é"])
def test_another_parent_begins_a_trace(parent: str, caplog: pytest.LogCaptureFixture) -> None:
    """It is neither followed nor logged."""
    caplog.set_level(logging.DEBUG)
    traces = OtelRequestTraces(TracerProvider())
    with traces.server_span("REST GET", {"traceparent": parent, "tracestate": "a=1"}):
        assert traces.headers()["traceparent"][:35] != PARENT[:35]
    assert not caplog.records
