"""Ids contain the slot and the node of their call (decision 0005)."""

import pytest

from engine.calls.model.call_id_format import call_id, call_of, slot_and_node, slot_of

TAIL = "018bcfe56800abcdef012345"


def test_an_id_contains_slot_and_node() -> None:
    """A call stays on one slot and one node; its id contains both."""
    made = call_id(7, "pbx1", TAIL)
    assert made == f"7-pbx1-{TAIL}"
    assert slot_and_node(made) == (7, "pbx1")


@pytest.mark.parametrize("kind", ["l0", "p12", "b3", "r4", "e5"])
def test_ids_of_a_calls_parts(kind: str) -> None:
    """Legs, playbacks, bridges and requests: the call's id, a dot, a kind and a number."""
    made = call_id(0, "pbx1", TAIL)
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
    assert slot_and_node(text) is None
    assert call_of(f"{text}.l0") is None


@pytest.mark.parametrize("channel", ["1700000000.7", "0-pbx1-abcdefgh", "", ".", ".l0"])
def test_channels_that_are_not_ours(channel: str) -> None:
    """Asterisk's own names are not ids of calls."""
    assert call_of(channel) is None


def test_the_slot_of_a_name() -> None:
    """It depends on the name only, in every process; all slots are used."""
    assert slot_of("order_1234", 8) == 4
    assert {slot_of(f"order_{number}", 8) for number in range(100)} == set(range(8))
