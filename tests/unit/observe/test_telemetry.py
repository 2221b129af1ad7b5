"""Tracing is controlled by OpenTelemetry's own variables."""

import pytest

from base.tracing import is_traced
from engine.observe.telemetry import open_telemetry

ENDPOINT = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": ""}, False),
        (ENDPOINT, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:4318/v1/traces"}, True),
        ({**ENDPOINT, "OTEL_SDK_DISABLED": "true"}, False),
    ],
)
def test_traced_where_an_endpoint_is_named(environ: dict[str, str], expected: bool) -> None:
    """An endpoint enables traces; OTEL_SDK_DISABLED disables them."""
    assert is_traced(environ) is expected


async def test_without_an_endpoint_there_is_only_a_meter() -> None:
    """Without an endpoint there are no traces."""
    async with open_telemetry({}) as made:
        assert made.traces is None
        assert made.metrics.calls.started.total == 0
