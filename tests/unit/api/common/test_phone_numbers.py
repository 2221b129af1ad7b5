"""Parsing of phone numbers in common spellings."""

import random

import phonenumbers
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.common.phone_numbers import InvalidNumber, e164

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
        ("+479000", None, "too long or too short"),
        ("+1-800-FLOWERS", None, "not a phone number"),
        ("+999123456789", None, "no country has this code"),
        ("+0123456789", None, "no country has this code"),
        ("", "NO", "not a phone number"),
        ("+", "NO", "not a phone number"),
        ("9" * 10_000, "NO", "not a phone number"),
        ("+4790000001;ext=5", None, "not a phone number"),
        ("+4722222222 #5", None, "extension"),
    ],
)
def test_invalid_numbers_have_a_reason(text: str, region: str | None, why: str) -> None:
    """For whoever corrects the file."""
    with pytest.raises(InvalidNumber, match=why):
        e164(text, region)


@given(st.integers(), st.sampled_from([None, *REGIONS]))
def test_the_fast_path_agrees_with_all_rules(seed: int, region: str | None) -> None:
    """A slash between the digits forces the slow path."""
    text = _digits(random.Random(seed), region)
    assert _read(text, region) == _read(f"{text[:-1]}/{text[-1]}", region)


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
