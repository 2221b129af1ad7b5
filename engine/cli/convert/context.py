"""What a document leaves to its platform: its own address, and the country of its numbers."""

import re

import phonenumbers
from msgspec import Struct
from phonenumbers import PhoneNumberFormat, ValidationResult

from engine.cli.convert.remarks import Place, Remarks
from wire.decoding import patterns


class Context(Struct, frozen=True):
    """The address of a document, and the country (ISO 3166-1) of its numbers; empty: unknown."""

    base_url: str = ""
    region: str = ""


class InvalidContext(Exception):
    """An option has no possible value; the text names it."""


UNKNOWN = Context()


def context(base_url: str, region: str) -> Context:
    """Check both options; raises InvalidContext."""
    if base_url and not re.search(patterns.URL, base_url):
        raise InvalidContext(f"--base-url: expected {patterns.PATTERNS[patterns.URL]}")
    country = region.upper()
    if country and country not in phonenumbers.SUPPORTED_REGIONS:
        raise InvalidContext(f"--region: expected {patterns.PATTERNS[patterns.COUNTRY]}")
    return Context(base_url, country)


def with_country(place: Place, text: str, region: str, remarks: Remarks) -> str:
    """Return a number of the region in international form; others, and no numbers, unchanged."""
    try:
        number = phonenumbers.parse(text, region)
    except phonenumbers.NumberParseException:
        return text
    is_whole = phonenumbers.is_possible_number_with_reason(number) == ValidationResult.IS_POSSIBLE
    if "+" in text or "@" in text or number.extension or not is_whole:
        return text
    full = phonenumbers.format_number(number, PhoneNumberFormat.E164)
    remarks.note(place, f"{text} becomes {full}")
    return full
