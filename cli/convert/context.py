"""What a document leaves to its platform: its own address, and the country of its numbers."""

import re

import phonenumbers
from msgspec import Struct

from cli.convert.result import Place, Remarks
from wire.decoding import patterns
from wire.phone_numbers.e164 import e164, normalized
from wire.phone_numbers.international_form import is_short, to_dial
from wire.phone_numbers.written_number import InvalidNumber


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
    without_region = normalized(text)
    try:
        full = e164(text, region)
    except InvalidNumber as error:
        if to_dial(without_region, region="") is None:
            remarks.note(place, f"{text}: {error}")
        return text
    if full == without_region or is_short(without_region):
        return text
    remarks.note(place, f"{text} becomes {full}")
    return full
