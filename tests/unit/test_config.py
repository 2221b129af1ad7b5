"""Settings that contradict each other are rejected, with a message."""

import pytest
from pydantic import ValidationError

from engine.cli.errors import setting_errors
from tests.harness.settings import read_settings
from wire.flow import MAX_CALL_S


def test_the_ceiling_is_above_the_minimum() -> None:
    """Otherwise a stream would be trimmed before it has its minimum length."""
    with pytest.raises(ValidationError) as error:
        read_settings({"rpc_token": "x", "stream_events": 2_000, "stream_ceiling": 1_000})
    assert "stream_ceiling is below stream_events" in setting_errors(error.value)[0]


def test_no_call_outlives_its_flow() -> None:
    """The versions of a deleted flow are kept for a week."""
    with pytest.raises(ValidationError) as error:
        read_settings({"rpc_token": "x", "longest_call_s": MAX_CALL_S + 1})
    assert "LONGEST_CALL_S" in setting_errors(error.value)[0]
    assert str(MAX_CALL_S) in setting_errors(error.value)[0]


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ({"name": "pbx1", "url": "http://b:8088"}, "NODES: Value error, two nodes have"),
        ({"name": "pbx2", "url": "http://A:8088/"}, "two nodes have the url http://a:8088/"),
    ],
)
def test_nodes_are_distinct(second: dict[str, str], message: str) -> None:
    """Two nodes at one PBX would share its events."""
    nodes = [{"name": "pbx1", "url": "http://a:8088"}, second]
    with pytest.raises(ValidationError) as error:
        read_settings({"rpc_token": "x", "nodes": [{**each, "password": "x"} for each in nodes]})
    assert message in setting_errors(error.value)[0]
