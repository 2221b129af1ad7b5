"""Limits of names and lengths, and defaults, that no other test meets."""

import msgspec
import pytest

from wire.flow import SetNode
from wire.request import ApiRequest
from wire.rpc import NodeView


@pytest.mark.parametrize("name", ["1st", "a-b", "a.b", "", "x" * 33])
def test_a_flow_variable_has_a_plain_name(name: str) -> None:
    """1 to 32 letters, digits or _, and no digit first: it is part of a template."""
    body = msgspec.json.encode({"type": "set", "variables": {name: 1}})
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(body, type=SetNode)


@pytest.mark.parametrize(("length", "is_valid"), [(256, True), (257, False)])
def test_a_pointer_has_a_limit(length: int, is_valid: bool) -> None:
    """It is stored, and evaluated with every response."""
    body = {
        "name": "n",
        "method": "GET",
        "url": "https://a.example/",
        "answers": {"a": "/" * length},
    }
    if is_valid:
        assert msgspec.json.decode(msgspec.json.encode(body), type=ApiRequest).answers
    else:
        with pytest.raises(msgspec.ValidationError, match="256"):
            msgspec.json.decode(msgspec.json.encode(body), type=ApiRequest)


def test_a_node_without_rtp_has_no_loss() -> None:
    """A node that AMI does not report on counts as healthy."""
    fields = {each.name: each for each in msgspec.structs.fields(NodeView)}
    assert (fields["loss"].default, fields["jitter_ms"].default) == (0.0, 0.0)
