"""Settings that make no sense together are refused, and named."""

import pytest
from pydantic import ValidationError

from engine.cli.errors import setting_errors
from tests.harness.settings import read_settings


def test_a_ceiling_is_above_what_is_kept() -> None:
    """A stream that is cut before it is long enough would lose events from the start."""
    with pytest.raises(ValidationError) as fault:
        read_settings({"rpc_token": "x", "stream_events": 2_000, "stream_ceiling": 1_000})
    assert "stream_ceiling is below stream_events" in setting_errors(fault.value)[0]


@pytest.mark.parametrize(
    ("second", "told"),
    [
        ({"name": "pbx1", "url": "http://b:8088"}, "NODES: Value error, two nodes have"),
        ({"name": "pbx2", "url": "http://A:8088/"}, "two nodes have the url http://a:8088/"),
    ],
)
def test_no_node_is_named_twice(second: dict[str, str], told: str) -> None:
    """Two nodes at one PBX would take each other's events away, again and again."""
    nodes = [{"name": "pbx1", "url": "http://a:8088"}, second]
    with pytest.raises(ValidationError) as fault:
        read_settings({"rpc_token": "x", "nodes": [{**each, "password": "x"} for each in nodes]})
    assert told in setting_errors(fault.value)[0]
