"""What a dial policy allows: prefixes, the numbers of a party, and caller ids."""

import pytest
from msgspec.structs import replace

from engine.calls.model.call import CallerKind
from engine.runtime.policy.destinations import full_numbers, reject_destination
from engine.runtime.policy.dial_policy import allowed_caller_id
from tests.harness.calls.builders import inbound, outbound
from wire.dial_policy import AccountDialPolicy

OWN = AccountDialPolicy(numbers=("+4721930000", "+4721930001"), country="47")


@pytest.mark.parametrize(
    ("destinations", "party", "may"),
    [
        (None, "+15550001", True),
        ((), "+4721930000", False),
        (("+47", "sip:"), "+4790000000", True),
        (("+47", "sip:"), "sip:ada@example.com", True),
        (("+47",), "sips:ada@example.com", False),
        (("+47",), "004790000000", True),
        (("+47",), "90000000", False),
    ],
)
def test_prefixes(destinations: tuple[str, ...] | None, party: str, may: bool) -> None:
    """Without prefixes every party is allowed; with some, only parties that start with one."""
    found = reject_destination(AccountDialPolicy(destinations=destinations), party)
    assert found == ("" if may else "not_allowed")


@pytest.mark.parametrize(
    ("party", "region", "numbers"),
    [
        ("+4721930000", "NO", ("+4721930000",)),
        ("+4790000000", "", ("+4790000000",)),
        ("004721930000", "", ("+004721930000", "+4721930000")),
        ("+004721930000", "", ("+004721930000", "+4721930000")),
        ("0114721930000", "", ("+0114721930000", "+4721930000")),
        ("+4402079460000", "", ("+4402079460000", "+442079460000")),
        ("+35802079460000", "", ("+35802079460000", "+3582079460000")),
        ("4721930000", "", ("+4721930000",)),
        ("21930000", "NO", ("+21930000", "+4721930000")),
        ("02079460000", "GB", ("+02079460000", "+4402079460000", "+442079460000")),
        ("sip:+4721930000@example.com", "", ("+4721930000",)),
        ("sips:0047-219.30000@example.com:5061", "", ("+004721930000", "+4721930000")),
        ("*31*+4721930000", "", ("+31", "+4721930000")),
        ("#31#21930000", "NO", ("+31", "+4731", "+21930000", "+4721930000")),
        ("+4721930000#", "", ("+4721930000",)),
        ("4721930000**1", "", ("+4721930000",)),
        ("+4721930000#99", "", ("+4721930000", "+99")),
        ("sip:*67+4721930000@example.com", "", ("+67", "+4721930000")),
        ("sip:ada@example.com", "NO", ()),
        ("sip:ada2@example.com", "NO", ()),
        ("sip:+4721_930000@example.com", "", ("+4721930000",)),
        ("00014721930000", "", ("+00014721930000", "+14721930000")),
        (
            "00144721930000",
            "",
            ("+00144721930000", "+144721930000", "+44721930000", "+4721930000"),
        ),
        ("10102880114721930000", "", ("+0114721930000", "+4721930000")),
        ("*100#", "NO", ("+100", "+47100")),
        ("+994222651234", "AZ", ("+994222651234",)),
        ("+810312345678", "", ("+810312345678", "+81312345678")),
        ("994222651234", "", ("+994222651234", "+222651234")),
        ("+9902226512345", "", ("+9902226512345", "+2226512345")),
        (
            "04915123456789#",
            "DE",
            ("+04915123456789", "+4915123456789", "+4904915123456789", "+494915123456789"),
        ),
        ("+04721930000", "NO", ("+04721930000", "+4721930000")),
        ("*1#", "NO", ()),
    ],
)
def test_the_numbers_of_a_party(party: str, region: str, numbers: tuple[str, ...]) -> None:
    """A listed number is found however it is dialled."""
    assert full_numbers(party, region) == numbers


@pytest.mark.parametrize(
    ("caller_id", "is_shown"),
    [
        ("+4721930001", "+4721930001"),
        ("4721930001", "+4721930001"),
        ("21930001", "+4721930001"),
        ("+47021930001", "+4721930001"),
        ("+47121930001", "+4721930000"),
        ("004721930001", "+4721930001"),
        ("+15550001", "+4721930000"),
        ("", ""),
    ],
)
def test_a_foreign_caller_id_is_not_shown(caller_id: str, is_shown: str) -> None:
    """The account's first number is shown instead."""
    assert allowed_caller_id(OWN, outbound(), caller_id, "+4799") == is_shown


def test_accounts_without_numbers() -> None:
    """Without a policy any number is shown; with an empty list the engine's default."""
    assert allowed_caller_id(AccountDialPolicy(), outbound(), "+15550001", "+4799") == "+15550001"
    assert (
        allowed_caller_id(AccountDialPolicy(numbers=()), outbound(), "+15550001", "+4799")
        == "+4799"
    )


@pytest.mark.parametrize("kind", ["agent", "phone", ""])
def test_an_inbound_callers_number(kind: CallerKind) -> None:
    """It may be shown to parties called for that call, if it has come over a trunk.

    What has become of the caller's leg since then makes no difference.
    """
    call = replace(inbound(), legs=())
    assert allowed_caller_id(OWN, call, call.from_, "") == call.from_
    assert allowed_caller_id(OWN, call, "+15550001", "") == "+4721930000"
    by_phone = replace(call, caller_kind=kind)
    assert allowed_caller_id(OWN, by_phone, call.from_, "") == "+4721930000"


@pytest.mark.parametrize(
    "party",
    [
        "+478291234599",
        "00478291234599",
        "001900555123499",
        "+4490123456789999",
        "0014882161234567",
        "00018765551234",
        "sip:+1876_5551234@127.0.0.1",
        "+1187655512349",
        "sip:+11876_5551234@127.0.0.1",
        "sip:+187655512341111111111@127.0.0.1",
        "+01118765551234",
        "+0018765551234",
        "sip:+01118765551234@127.0.0.1",
        "+99422265123456",
    ],
)
def test_a_costly_number_in_disguise(party: str) -> None:
    """Switches ignore what follows a number; gateways ignore what is not a digit."""
    assert reject_destination(AccountDialPolicy(), party) == "number_type"


@pytest.mark.parametrize(
    "party",
    [
        "+4721930000",
        "+47219300001",
        "+4915112345678",
        "+12025550123",
        "+994222651234",
        "+994509212345",
        "00994222651234",
        "sip:+994881234567@127.0.0.1",
    ],
)
def test_a_usual_number(party: str) -> None:
    """A number that costs no more is allowed, also with a digit too many."""
    assert reject_destination(AccountDialPolicy(), party) == ""
