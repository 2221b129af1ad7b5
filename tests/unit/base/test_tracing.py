"""Traces for as long as a program runs."""

from threading import Event

import pytest
from structlog.testing import capture_logs

from base.tracing import ENDPOINTS, open_traces

TRACED = {ENDPOINTS[0]: "http://127.0.0.1:4318"}


class Blocking:
    """Traces whose collector does not respond."""

    def __init__(self) -> None:
        self.may_close = Event()
        self.is_closed = Event()

    def close(self) -> None:
        self.may_close.wait()
        self.is_closed.set()


async def test_a_collector_that_is_down_does_not_delay_the_end() -> None:
    """A program that is stopped would be killed in the midst of it; the log says what is lost."""
    traces = Blocking()
    with capture_logs() as logs:
        async with open_traces(TRACED, lambda: traces, closes_within_s=0.01):
            pass
    assert [each["event"] for each in logs] == ["the last spans were not exported"]
    traces.may_close.set()


async def test_pending_spans_are_exported_at_the_end() -> None:
    """With a collector that responds."""
    traces = Blocking()
    traces.may_close.set()
    async with open_traces(TRACED, lambda: traces):
        assert not traces.is_closed.is_set()
    assert traces.is_closed.is_set()


@pytest.mark.parametrize("environ", [{}, {**TRACED, "OTEL_SDK_DISABLED": "true"}])
async def test_without_an_endpoint_nothing_is_traced(environ: dict[str, str]) -> None:
    """Or with tracing switched off."""
    async with open_traces(environ, Blocking) as traces:
        assert traces is None
