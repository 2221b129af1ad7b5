"""Which caller ids an account may show, and which numbers it may call."""

import json

import pytest

from api.voice.permissions import Permissions
from wire.decoding.errors import BadInput
from wire.tree import parse_action

OURS = Permissions(("+4721930000", "+4721930001"), ("+47", "+46", "sip:"))
ANYBODY = Permissions(("+4721930000",), region="NO")
NOT_CERTAIN = ["4155551234", "1234567", "04155551234"]


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("+4721930001", "+4721930001"),
        ("4721930001", "+4721930001"),
        ("004721930001", "+4721930001"),
        ("21930001", None),
        ("00 4721930001", None),
        ("+4721930002", None),
        ("++4721930001", None),
        ("agent:4721930001", None),
        ("", None),
    ],
)
def test_an_own_number_matches_in_its_international_spellings(text: str, own: str | None) -> None:
    """Other texts do not match."""
    assert OURS.own(text) == own


def test_an_own_number_matches_without_its_country() -> None:
    """If the account's country is known."""
    assert ANYBODY.own("21930000") == "+4721930000"
    assert ANYBODY.own("21930001") is None


@pytest.mark.parametrize("party", NOT_CERTAIN)
def test_a_number_of_an_uncertain_country_is_rejected(party: str) -> None:
    """Also if the account may call any number: a carrier would call some country."""
    with pytest.raises(BadInput, match="not certain: a number needs its country code") as refused:
        ANYBODY.check_party(party, "to")
    assert refused.value.code == "number_without_country"


@pytest.mark.parametrize(
    "party", ["22222222", "44444444", "4722222222", "004155551234", "112", "agent:4155551"]
)
def test_a_number_of_a_certain_country_may_be_called(party: str) -> None:
    """A number of the account's country, one with 00, and a short number of the carrier."""
    ANYBODY.check_party(party, "to")


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


def test_prefixes_are_compared_with_the_number_that_is_dialled() -> None:
    """It has no trunk prefix."""
    jamaica = Permissions((), ("+1876",))
    for party in ("+118765551234", "00118765551234", "+18765551234"):
        jamaica.check_party(party, "to")
        with pytest.raises(BadInput, match="allowed"):
            Permissions((), ("+11", "00")).check_party(party, "to")


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
