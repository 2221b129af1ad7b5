"""Parsing of phone numbers in common spellings."""

import random

import phonenumbers
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wire.phone_numbers.e164 import canonical, e164, region_of
from wire.phone_numbers.written_number import InvalidNumber

REGIONS = sorted(phonenumbers.SUPPORTED_REGIONS)


@pytest.mark.parametrize(
    ("text", "region", "number"),
    [
        ("+4790000001", None, "+4790000001"),
        ("+47 900 00 001", None, "+4790000001"),
        ("90000001", "NO", "+4790000001"),
        ("004790000001", "NO", "+4790000001"),
        ("07911 123456", "GB", "+447911123456"),
        ("+44 (0)7911 123456", None, "+447911123456"),
        ("(415) 555-2671", "US", "+14155552671"),
        ("+39 06 1234 5678", None, "+390612345678"),
        ("919800000000", "IN", "+919800000000"),
        ("+39 (0)6 1234 5678", None, "+390612345678"),
        ("+48 (0) 512387859", None, "+48512387859"),
        ("+48(0)512387859", "PL", "+48512387859"),
        ("030/1234567", "DE", "+49301234567"),
        ("02204/123456", "DE", "+492204123456"),
        ("06/12/34/56/78", "FR", "+33612345678"),
        ("212/555-1234", "US", "+12125551234"),
        ("22222222.0", "NO", "+4722222222"),
        ("2222.0000", "NO", "+4722220000"),  # it is no number as a whole one
        ("tel:21930000;phone-context=+47", None, "+4721930000"),
        ("tel:21930000;phone-context=example.com", "NO", "+4721930000"),
        ("006581234567", "SG", "+6581234567"),  # 006 is a carrier's prefix there
        ("0011 47 21930000", "AU", "+4721930000"),
        ("0011 47 22222222", "AU", "+4722222222"),  # not +1 (1) 472 222 2222
        ("0011 212 520 123 456", "AU", "+212520123456"),
        ("0011 1 212 555 0123", "AU", "+12125550123"),
        ("001 47 21930000", "TH", "+4721930000"),
        ("010 47 22222222", "JP", "+4722222222"),
        ("8 10 47 22222222", "RU", "+4722222222"),
        ("011 47 21930000", "US", "+4721930000"),
        ("22.33.44.55", "DK", "+4522334455"),
        ("91.234.56.78", "ES", "+34912345678"),
        ("212.123.45.67", "TR", "+902121234567"),
        ("24.12.26", "GL", "+299241226"),
        ("24.12.26", "NC", "+687241226"),
        ("4915123456789", "DE", "+4915123456789"),  # rather than a fixed line
        ("447911123456", "NO", "+447911123456"),
        ("+15550100", None, "+15550100"),  # its country is given, if not its area
        ("0015550100", "NO", "+15550100"),
        ("0 602 123 456", "PL", "+48602123456"),
        ("(0-22) 123 45 67", "PL", "+48221234567"),
        ("+48 0 601 123 456", None, "+48601123456"),
        ("+48 (0-22) 123 45 67", "NO", "+48221234567"),
        ("48 0601 123 456", "PL", "+48601123456"),
        ("+39 0 06 1234 5678", None, "+390612345678"),
        ("09752544", "GA", "+24109752544"),  # of no plan, but there a 0 belongs to numbers
        ("0049 18645885", "DE", "+4918645885"),
        ("0919876543210", "IN", "+919876543210"),
        ("046 70 123 45 67", "SE", "+46701234567"),
        ("061412345678", "AU", "+61412345678"),
        ("+52 1 55 1234 5678", None, "+525512345678"),
        ("044 55 1234 5678", "MX", "+525512345678"),
        ("01 55 1234 5678", "MX", "+525512345678"),
        ("1 551 234 5678", "MX", "+15512345678"),
        ("00855 023 756 789", "KH", "+85523756789"),  # 008 is a carrier's prefix there
        ("04931 123456", "DE", "+494931123456"),  # of Norden, rather than of Berlin
        ("\u00a0+47\u00a090\u00a000\u00a000\u00a001", None, "+4790000001"),
    ],
)
def test_numbers_are_parsed(text: str, region: str | None, number: str) -> None:
    """With a country code, or in the format of the account's region."""
    assert e164(text, region) == number


@pytest.mark.parametrize(
    ("text", "region", "why"),
    [
        ("90000001", None, "no country"),
        ("4.79E+10", "NO", "rounded"),
        ("4,79E+10", "NO", "rounded"),
        ("-31234522", "DK", "not a phone number"),
        (".31234522", "DK", "not a phone number"),
        ("(31234522", "DK", "not a phone number"),
        ("#N/A", "DK", "not a phone number"),
        ("0301234-0305678", "DE", "more than one number"),
        ("2012-05-06", "DK", "a date"),
        ("06.05.2012", "DK", "a date"),
        ("2012\u201305\u201306", "DK", "a date"),
        ("(2012 - 05 - 06).", "DK", "a date"),
        ("5/6/1990", "NO", "a date"),
        ("24.12.2026 10.30", "DE", "a date"),
        ("24.12.26", "DE", "a date"),
        ("24.12.26", None, "a date"),
        ("4-1-26", "FI", "a date"),
        ("12/24/26", "AT", "a date"),
        ("26/12/24", "GL", "a date"),
        ("26\u201312\u201324", "SE", "a date"),
        ("24.12.26 10.30", "FR", "a date"),
        ("192.168.10.100", "AT", "an IP address"),
        ("172.16.254.1", "FR", "an IP address"),
        ("10.0.0.1", "NF", "an IP address"),
        ("192.168.10.0/24", "AT", "an IP address"),
        ("88.198.45.67", "NO", "an IP address"),
        ("10.20.30.40", None, "an IP address"),
        ("2001:db8::8a2e:370:7334", "DE", "not a phone number"),
        ("2001:4860:4860:8888", "DE", "not a phone number"),
        ("004 971 50 123 4567", "SG", r"\+971501234567 or \+4971501234567\?"),
        ("+479000", None, "too long or too short"),
        ("+1-800-FLOWERS", None, "not a phone number"),
        ("+999123456789", None, "no country has this code"),
        ("+0123456789", None, "no country has this code"),
        ("", "NO", "not a phone number"),
        ("+", "NO", "not a phone number"),
        ("9" * 10_000, "NO", "not a phone number"),
        ("+4790000001;ext=5", None, "extension"),
        ("+4722222222 #5", None, "extension"),
        ("+4722222222 x12", None, "extension"),
        ("tel:+4722222222;isub=5", None, "extension"),
        ("12345678901234", "DE", "too long: a number has at most 15 digits"),
        ("+4912345678901234", None, "too long: a number has at most 15 digits"),
        ("+49123456789012345678", None, "too long: a number has at most 15 digits"),
        ("5550100", "US", "too short"),  # without its area
        ("468123456", "SE", r"\+46468123456 or \+468123456\? expected \+ and the country's code"),
        ("447911123456", "IN", r"\+91447911123456 or \+447911123456\?"),
        ("04915123456789", "DE", r"\+494915123456789 or \+4915123456789\?"),
        ("0 999 123 456", "PL", r"\+480999123456 or \+48999123456\?"),  # of no plan
        ("+480999123456", None, r"\+480999123456 or \+48999123456\?"),
        ("0911000000000", "IN", r"\+91911000000000 or \+911000000000\?"),
        ("0 0 600 212345", "AE", r"\+600212345 or \+971600212345\?"),
        ("0 0 01 20 21 12 34", "BJ", r"\+0120211234 or \+2290120211234\?"),
        ("+39003123456789", None, r"\+3903123456789 or \+393123456789\?"),
        ("0082 010-2000-0000", "KR", r"\+201020000000 or \+821020000000\?"),
        ("+0048601123456", "PL", "too long or too short"),
        ("00+48601123456", "PL", "more than one number"),
        ("0301234/0301235", "DE", "more than one number"),
        ("030 1234567/68", "DE", "more than one number"),
        ("0301234567 0301234568", "DE", "more than one number"),
        ("0301234567, 0301234568", "DE", "more than one number"),
        ("0301234567\n0301234568", "DE", "more than one number"),
        ("+4721930000 +4721930001", None, "more than one number"),
        ("112/113", "NO", "more than one number"),
        ("22\u00b22222222", "NO", "not a phone number"),  # a footnote's mark
        ("*21#", "NO", "not a phone number"),
        ("=22222222", "NO", "not a phone number"),
        ("1.0", "NO", "too long or too short"),
    ],
)
def test_invalid_numbers_have_a_reason(text: str, region: str | None, why: str) -> None:
    """For whoever corrects the file."""
    with pytest.raises(InvalidNumber, match=why):
        e164(text, region)


@given(st.integers(), st.sampled_from([None, *REGIONS]))
def test_the_fast_path_agrees_with_all_rules(seed: int, region: str | None) -> None:
    """A letter that is not seen forces the slow path."""
    text = _digits(random.Random(seed), region)
    assert _read(text, region) == _read(f"{text[:-1]}\u2060{text[-1]}", region)


def _digits(chance: random.Random, region: str | None) -> str:
    example = phonenumbers.example_number(region or chance.choice(REGIONS))
    national = str(example.national_number) if example else "90000000"
    kept = chance.randrange(len(national) + 1)
    national = national[:kept] + "".join(
        chance.choice("0123456789") for _ in range(len(national) - kept + chance.randrange(2))
    )
    code = str(example.country_code) if example else "47"
    return chance.choice(["", "0", "+", "00"]) + chance.choice([code, ""]) + national


def _read(text: str, region: str | None) -> str:
    try:
        return e164(text, region)
    except InvalidNumber as error:
        return str(error)


@pytest.mark.parametrize(
    ("text", "region", "number"),
    [
        ("+4722222222", None, "+4722222222"),
        ("4722222222", None, "+4722222222"),
        ("004722222222", None, "+4722222222"),
        ("(47) 22 22-22.22", None, "+4722222222"),
        ("22222222", "NO", "+4722222222"),
        ("4722222222", "NO", "+4722222222"),
        ("22222222", None, "22222222"),
        ("agent:1001", "NO", "agent:1001"),
        ("sip:22222222@example.com", "NO", "sip:22222222@example.com"),
        ("*21#", "NO", "*21#"),
        ("447911123456", "IN", "447911123456"),  # two readings: as it was given
        ("22 22 22 22", None, "22222222"),
        ("Ada", "NO", "Ada"),
        ("", "NO", ""),
        ("24.12.2026", None, "24.12.2026"),
        ("192.168.10.100", None, "192.168.10.100"),
    ],
)
def test_the_canonical_form(text: str, region: str | None, number: str) -> None:
    """A number in any form is E.164 where its country is known; other parties stay."""
    assert canonical(text, region) == number


def test_the_region_of_an_account() -> None:
    """Its own, or else that of its first number that has a country."""
    assert region_of("SE", ["+4721930000"]) == "SE"
    assert region_of(None, ["+4721930000", "+4684001234"]) == "NO"
    assert region_of(None, []) is None
    assert region_of(None, ["12"]) is None
    for number in ("+80012345678", "+883510012345", "+870773111632", "+979123456789", "12"):
        assert region_of(None, [number]) is None
        assert region_of(None, [number, "+4721930000"]) == "NO"
