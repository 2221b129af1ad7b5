"""Which caller ids an account may show, and which numbers it may call."""

import json

import pytest

from api.voice.permissions import Permissions
from wire.decoding.errors import BadInput
from wire.tree import parse_action

OURS = Permissions(("+4721930000", "+4721930001"), ("+47", "+46", "sip:"))
ANYBODY = Permissions(("+4721930000",))


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("+4721930001", "+4721930001"),
        ("4721930001", "+4721930001"),
        ("+4721930002", None),
        ("++4721930001", None),
        ("agent:4721930001", None),
        ("", None),
    ],
)
def test_an_own_number_matches_with_or_without_its_plus(text: str, own: str | None) -> None:
    """Other texts do not match."""
    assert OURS.own(text) == own


@pytest.mark.parametrize("party", ["+4722222222", "+46701234567", "sip:ada@host", "agent:1001"])
def test_allowed_prefixes_may_be_called(party: str) -> None:
    """Agents may always be called."""
    OURS.check_party(party, "to")


@pytest.mark.parametrize("party", ["+15551234567", "4722222222", "00471234", "112", "*21#"])
def test_other_destinations_may_not_be_called(party: str) -> None:
    """Only E.164 shows the destination, so other spellings can't bypass the list."""
    with pytest.raises(BadInput) as refused:
        OURS.check_party(party, "to")
    assert (refused.value.path, refused.value.code) == ("to", "not_allowed")
    ANYBODY.check_party(party, "to")


def test_a_number_without_its_country_is_explained() -> None:
    """The prefixes alone would not say why a national number is rejected."""
    with pytest.raises(BadInput, match=r"allowed: .*; a number needs its country code"):
        OURS.check_party("22222222", "to")
    with pytest.raises(BadInput, match=r"allowed: [^;]*$"):
        OURS.check_party("+15551234567", "to")


@pytest.mark.parametrize("number", ["+1", "+999123456789", "+47222222222222222"])
def test_an_impossible_number_is_rejected(number: str) -> None:
    """Whatever the allowed prefixes are."""
    with pytest.raises(BadInput) as refused:
        ANYBODY.check_party(number, "to")
    assert refused.value.code == "impossible_number"


ABROAD = {"type": "dial", "data": {"number": "+15551234567"}}
ONE_OF_TWO = {"type": "dial", "data": {"number": ["+4722222222", "+15551234567"]}}
SHOWN = {"type": "dial", "data": {"agent_id": "1", "callerId": "+4799999999"}}


@pytest.mark.parametrize(
    ("tree", "path"),
    [
        (ABROAD, "action.data.number"),
        (ONE_OF_TWO, "action.data.number"),
        (
            {"type": "say", "data": {"text": "x"}, "action": SHOWN},
            "action.action.data.callerId",
        ),
        ({"type": "gather", "data": {"fallback": ABROAD}}, "action.data.fallback.data.number"),
    ],
)
def test_all_dials_of_a_tree_are_checked(tree: dict[str, object], path: str) -> None:
    """At any depth."""
    with pytest.raises(BadInput) as refused:
        OURS.check_tree(parse_action(json.dumps(tree).encode(), prefix="action"), "action")
    assert refused.value.path == path


def test_an_empty_list_allows_no_destination() -> None:
    """An empty list differs from no list."""
    with pytest.raises(BadInput, match="allowed: none"):
        Permissions((), ()).check_party("+4722222222", "to")
