"""Ids contain the slot and the node of their call (decision 0025)."""

import pytest

from wire.call_id_format import call_id, call_of, shard_of
from wire.shard import ShardId, parse_shard

TAIL = "018bcfe56800abcdef012345"


def test_an_id_contains_the_shard() -> None:
    """A call stays on one slot of one node; its id contains both."""
    made = call_id(ShardId("pbx1", 7), TAIL)
    assert made == f"7-pbx1-{TAIL}"
    assert shard_of(made) == ShardId("pbx1", 7)


def test_the_text_of_a_shard() -> None:
    """It is a node and a slot, and nothing else is parsed."""
    assert parse_shard(str(ShardId("pbx1", 3))) == ShardId("pbx1", 3)
    for text in ("", "pbx1", "pbx1/", "/3", "pbx1/03", "PBX1/3", "pbx1/3\n", "pbx1/\u0663"):
        with pytest.raises(ValueError, match="no shard"):
            parse_shard(text)


@pytest.mark.parametrize("kind", ["l0", "p12", "b3", "r4", "e5"])
def test_ids_of_a_calls_parts(kind: str) -> None:
    """Legs, playbacks, bridges and requests: the call's id, a dot, a kind and a number."""
    made = call_id(ShardId("pbx1", 0), TAIL)
    assert call_of(f"{made}.{kind}") == made


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0-pbx1",
        "0-pbx1-short",
        f"-pbx1-{TAIL}",
        f"0-PBX1-{TAIL}",
        f"0--{TAIL}",
        f"1000-pbx1-{TAIL}",
        f"007-pbx1-{TAIL}",
        f"\u0663-pbx1-{TAIL}",
        f"\u00b2-pbx1-{TAIL}",
        f"0-pbx1-{TAIL}\n",
        f"\n0-pbx1-{TAIL}",
        f"0-pbx1-{TAIL}.l0",
        f"0-pbx1-{'a' * 65}",
        f"0-{'n' * 17}-{TAIL}",
        "1700000000.7",
    ],
)
def test_invalid_ids(text: str) -> None:
    """One call has one id: no other digits, no leading zeros, nothing after the end."""
    assert shard_of(text) is None
    assert call_of(f"{text}.l0") is None


@pytest.mark.parametrize("channel", ["1700000000.7", "0-pbx1-abcdefgh", "", ".", ".l0"])
def test_channels_that_are_not_ours(channel: str) -> None:
    """Asterisk's own names are not ids of calls."""
    assert call_of(channel) is None
