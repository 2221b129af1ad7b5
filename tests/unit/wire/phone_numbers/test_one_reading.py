"""What a list stores for a text is what a call dials, in all countries and spellings."""

import random
import re
from collections.abc import Iterator

import msgspec
import phonenumbers
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct
from phonenumbers import PhoneMetadata, PhoneNumber, PhoneNumberFormat

from tests.harness.each import for_each
from tests.unit.wire.phone_numbers.test_spellings import EXAMPLES, EXAMPLES_OF_ALL_TYPES, REGIONS
from wire.base import Party
from wire.decoding.errors import BadInput, InputErrors
from wire.decoding.lenient import decode
from wire.phone_numbers.e164 import e164, without_separators
from wire.phone_numbers.international_form import is_short, to_dial
from wire.phone_numbers.written_number import InvalidNumber, TwoReadings

REFUSED, TWO_READINGS = "refused", "two readings"
# Prefixes of national calls, with carriers' codes of Brazil and Colombia, and those of mobiles.
PREFIXES = ("0", "1", "8", "9", "00", "01", "02", "06", "014", "021", "044", "05", "09", "15")


class Request(Struct, frozen=True):
    """A request that names a party."""

    to: Party


def listed(text: str, region: str | None) -> str:
    """Return what a list stores."""
    try:
        return e164(text, region)
    except TwoReadings:
        return TWO_READINGS
    except InvalidNumber:
        return REFUSED


def dialled(text: str, region: str | None) -> str:
    """Return what a call dials."""
    try:
        party = decode(msgspec.json.encode({"to": text}), Request).to
    except (BadInput, InputErrors):
        return REFUSED
    return to_dial(party, region or "") or REFUSED


def check(text: str, region: str | None) -> None:
    """Compare both readings."""
    called, stored = dialled(text, region), listed(text, region)
    assert agree(text, called, stored), (text, region, called, stored)


def agree(text: str, called: str, stored: str) -> bool:
    """Return whether what no list stores is refused, or the carrier's as it is written."""
    if is_short(called) or (stored == REFUSED and called == without_separators(text)):
        return True
    return called == (REFUSED if stored == TWO_READINGS else stored)


def _spellings(number: PhoneNumber, region: str, chance: random.Random) -> Iterator[str]:
    """Yield spellings, right ones and such as people make of two right ones."""
    national = phonenumbers.national_significant_number(number)
    shown = phonenumbers.format_number(number, PhoneNumberFormat.NATIONAL)
    carried = phonenumbers.format_national_number_with_carrier_code(number, "15")
    metadata, code = PhoneMetadata.metadata_for_region(region), number.country_code
    own = (metadata and metadata.national_prefix) or "0"
    prefixes = own, f"{own}{chance.choice(PREFIXES)}", chance.choice(PREFIXES)
    for each in (national, shown, carried, *(f"{prefix}{national}" for prefix in prefixes)):
        yield from (each, f"+{code}{each}", f"+{code} {each}", f"00{code}{each}", f"{code}{each}")
    yield from (f"00 {code} {own}{national}", f"+{code} (0){own}{national}", f"+{own}{national}")


@for_each(EXAMPLES, str)
def test_a_call_dials_what_a_list_stores(example: tuple[str, str]) -> None:
    """With trunk prefixes and carriers' codes, with and without the country's code."""
    region, full = example
    for text in _spellings(phonenumbers.parse(full), region, random.Random(full)):
        check(text, region)


def _with_zeros(number: PhoneNumber, region: str, chance: random.Random) -> Iterator[str]:
    """Yield spellings with a 0, a trunk prefix or a country's code that is not needed."""
    national = phonenumbers.national_significant_number(number)
    shown = phonenumbers.format_number(number, PhoneNumberFormat.NATIONAL)
    metadata, code = PhoneMetadata.metadata_for_region(region), str(number.country_code)
    own = (metadata and metadata.national_prefix) or ""
    abroad = (metadata and metadata.preferred_international_prefix) or "00"
    yield from (f"0{own}{national}", f"{own}0{national}", f"0-{shown}", f"00{national}")
    for each in (national, shown):
        yield from (each, f"0{each}", f"(0){each}", f"(0-{each[:2]}) {each[2:]}")
        yield from (f"0{code}{each}", f"0 {code}/{each}", f"{code}.{each}", f"{code} 0{each}")
        for zero in ("", "0", " (0) ", "00", f"0-{own}", f"{own}-0"):
            yield f"{chance.choice(('+', '00', f'{abroad} ', 'tel:+'))}{code} {zero}{each}"


def _is_usual(text: str, found: str, region: str) -> bool:
    """Return whether a text is a number as it is dialled in the region, without a 0 too many."""
    parsed = phonenumbers.parse(found)
    metadata = PhoneMetadata.metadata_for_region(region)
    assert metadata is not None
    abroad = rf"(?:\+|00|{metadata.international_prefix or '00'})?{parsed.country_code}0?"
    prefixes = f"(?:{abroad}|{metadata.national_prefix or ''})"
    national = phonenumbers.national_significant_number(parsed)
    digits = re.sub("[^+0-9]", "", text)
    return phonenumbers.is_valid_number(parsed) and bool(re.fullmatch(prefixes + national, digits))


@for_each(EXAMPLES_OF_ALL_TYPES, str)
def test_a_zero_too_many_makes_no_other_number(example: tuple[str, str]) -> None:
    """A text is read as the number, or refused, unless that is how another number is dialled."""
    region, full = example
    for text in _with_zeros(phonenumbers.parse(full), region, random.Random(full)):
        called, stored = dialled(text, region), listed(text, region)
        assert called == REFUSED or agree(text, called, stored), (text, called, stored)
        if stored not in {full, REFUSED, TWO_READINGS}:
            assert _is_usual(text, stored, region), (text, stored)


@given(st.integers(), st.sampled_from([None, *REGIONS]))
def test_digits_have_one_reading(seed: int, region: str | None) -> None:
    """Also such as are no number of any country."""
    chance = random.Random(seed)
    sign = chance.choice(("", "+", "00", "+1", "+54", "+55", "+7", "+36", "+370"))
    digits = chance.choices("0123456789", k=chance.randrange(2, 16))
    check(sign + "".join(digits), region)


@pytest.mark.parametrize(
    ("text", "region", "number"),
    [
        ("+370861234567", None, "+37061234567"),
        ("+370 8 612 34567", None, "+37061234567"),
        ("00370861234567", "NO", "+37061234567"),
        ("+36 06 20 123 4567", None, "+36201234567"),
        ("+360620123 4567", None, "+36201234567"),
        ("+54 11 15 2345 6789", None, "+5491123456789"),
        ("+5501511961234567", None, "+5511961234567"),
        ("+789123456789", None, "+79123456789"),
        ("+118765551234", None, "+18765551234"),
        ("00118765551234", "NO", "+18765551234"),
        ("+4402079460000", None, "+442079460000"),
        ("+390612345678", None, "+390612345678"),
        ("44444444", "NO", "+4744444444"),
        ("0011 47 21930000", "AU", "+4721930000"),
        ("0011 47 22222222", "AU", "+4722222222"),
        ("004 971 50 123 4567", "SG", REFUSED),
        ("2345678", "BS", REFUSED),
        ("3612345", "BS", "+12423612345"),
        ("468123456", "SE", REFUSED),
        ("02800", "NO", "02800"),
        ("2193.0000", "NO", REFUSED),
        ("21930.000", "NO", REFUSED),
        ("21930000.0", "NO", "+4721930000"),
    ],
)
def test_numbers_that_are_dialled(text: str, region: str | None, number: str) -> None:
    """A text that may mean a short number, too, is refused."""
    assert dialled(text, region) == number
