"""Every spelling of a number is read as that number, in all countries."""

import re
from collections.abc import Iterable, Iterator
from itertools import islice

import phonenumbers
import pytest
from phonenumbers import PhoneMetadata, PhoneNumber, PhoneNumberFormat, PhoneNumberType

from tests.harness.each import for_each
from wire.phone_numbers.e164 import calling_code, e164
from wire.phone_numbers.written_number import InvalidNumber, TwoReadings

REGIONS = sorted(phonenumbers.SUPPORTED_REGIONS)
TYPES = (
    PhoneNumberType.MOBILE,
    PhoneNumberType.FIXED_LINE,
    PhoneNumberType.TOLL_FREE,
    PhoneNumberType.PERSONAL_NUMBER,
)
FULL_WIDTH = {ord(each): ord(each) + 0xFEE0 for each in "+0123456789"}
ARABIC = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")


def _examples(types: Iterable[int]) -> Iterator[tuple[str, str]]:
    for region in REGIONS:
        found = [phonenumbers.example_number_for_type(region, each) for each in types]
        for number in filter(None, found):
            if phonenumbers.is_valid_number_for_region(number, region):
                yield region, phonenumbers.format_number(number, PhoneNumberFormat.E164)


EXAMPLES = list(_examples(TYPES))
EXAMPLES_OF_ALL_TYPES = list(dict.fromkeys(_examples(PhoneNumberType.values())))
FOREIGN = {"+4722222222": "NO", "+442079460000": "GB", "+12125550123": "US", "+4915123456789": "DE"}
# Fixed lines whose code and number are another fixed line of the same country.
AMBIGUOUS = {
    "+318001234", "+38328012345", "+38380001234", "+468123456", "+55800123456", "+62218350123",
}  # fmt: skip


def international_spellings(number: PhoneNumber) -> Iterator[str]:
    """Yield spellings with the country's code and its plus sign, or 00."""
    shown = phonenumbers.format_number(number, PhoneNumberFormat.INTERNATIONAL)
    full = phonenumbers.format_number(number, PhoneNumberFormat.E164)
    link = phonenumbers.format_number(number, PhoneNumberFormat.RFC3966)
    digits = full[1:]
    code = str(number.country_code)
    yield from (full, shown, link, link.upper(), f"callto:{full}", f"tel://{full}", f"Tel: {shown}")
    yield from (f"00{digits}", f"00 {shown[1:]}", f"{full}.0", f"{full},0", f"{full}.00")
    yield from (shown.replace(" ", "\u00a0"), shown.replace(" ", "\u2009"), shown.replace(" ", "."))
    yield from (
        shown.replace("-", "\u2013"),
        shown.replace(" ", "\u2011"),
        shown.replace(" ", "\t"),
    )
    yield from (
        f"\u200e{full}",
        f"\u202a{full}\u202c",
        f"{full}\ufe0f",
        f"\u3164{shown}",
        f"\ufeff{full}",
    )
    yield from (
        f"{full[:5]}\u00ad{full[5:]}",
        f"{full[:4]}\u200b{full[4:]}",
        f"\u2066{shown}\u2069",
    )
    yield from (full.translate(FULL_WIDTH), shown.translate(ARABIC), f"  {shown} \n", f"'{full}")
    yield from (f"(+{code}) {digits[len(code) :]}", f"+({code}){digits[len(code) :]}", f'"{full}"')


def national_spellings(number: PhoneNumber) -> Iterator[str]:
    """Yield spellings that need the region."""
    shown = phonenumbers.format_number(number, PhoneNumberFormat.NATIONAL)
    digits = phonenumbers.national_significant_number(number)
    code = number.country_code
    yield from (shown, digits, f"{digits}.0", f"{digits},0", f"{digits}.00", f"\u202d{shown}\u202c")
    yield from (
        shown.translate(FULL_WIDTH),
        shown.translate(ARABIC),
        f"tel:{re.sub(' ', '', shown)}",
    )
    yield from (f"tel:{digits};phone-context=+{code}", f" {shown}\t", f"\u2060{digits}\ufe0e")


@for_each(EXAMPLES, str)
def test_a_number_with_its_country_code_is_read(example: tuple[str, str]) -> None:
    """What stands behind a plus sign or 00 does not depend on who reads it, or is refused.

    In Singapore 001 to 003 and the like are prefixes of carriers.
    """
    number = phonenumbers.parse(example[1])
    for text in international_spellings(number):
        for reader in (None, "NO", "US"):
            assert e164(text, reader) == example[1], (text, reader)
        for reader in (example[0], "SG"):
            assert _read(text, reader) in {example[1], TwoReadings}, (text, reader)


def _read(text: str, region: str) -> str | type[TwoReadings]:
    try:
        return e164(text, region)
    except TwoReadings:
        assert text.startswith("00")
        return TwoReadings


@pytest.mark.parametrize("region", REGIONS)
def test_each_regions_own_prefix_is_read(region: str) -> None:
    """The number behind it is read, or refused if 00 makes another one of it."""
    for prefix in _prefixes(region):
        for full, country in FOREIGN.items():
            if calling_code(region) != calling_code(country):
                assert _read(prefix + full[1:], region) in {full, TwoReadings}, (prefix, full)


def _prefixes(region: str) -> Iterator[str]:
    """Yield what is dialled before another country's number, of each length at most two."""
    metadata = PhoneMetadata.metadata_for_region(region)
    assert metadata is not None
    pattern = re.compile(metadata.international_prefix or "00")
    for digits in range(1, 5):
        found = (f"{each:0{digits}}" for each in range(10**digits))
        yield from islice((each for each in found if pattern.fullmatch(each)), 2)


@for_each(EXAMPLES, str)
def test_a_number_of_the_region_is_read(example: tuple[str, str]) -> None:
    """As people of that country write it, and as spreadsheets keep it."""
    region, full = example
    for text in national_spellings(phonenumbers.parse(full)):
        assert e164(text, region) == full, text


@for_each(EXAMPLES, str)
def test_no_country_code_is_doubled(example: tuple[str, str]) -> None:
    """A number that has its code already, without a plus sign, is read as it is, or refused."""
    region, full = example
    if full in AMBIGUOUS:
        with pytest.raises(InvalidNumber, match=rf"or \{full}\? expected"):
            e164(full[1:], region)
    else:
        assert e164(full[1:], region) == full
