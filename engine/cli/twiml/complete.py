"""Completes a document: relative addresses by its own address, phone numbers by a country.

What cannot be completed stays as it is, and is remarked where it is converted.
"""

import re
from urllib.parse import urljoin

import phonenumbers
from msgspec import Struct
from msgspec.structs import replace
from phonenumbers import PhoneNumberFormat, ValidationResult

from engine.cli.twiml.document import Element
from engine.cli.twiml.remarks import Remarks
from engine.cli.twiml.verbs import ADDRESS_TEXTS, NUMBER_TEXTS, WITH_OWN_ADDRESS
from wire.decoding import patterns


class Context(Struct, frozen=True):
    """The address of a document, and the country (ISO 3166-1) of its numbers; empty: unknown."""

    base_url: str = ""
    region: str = ""


class InvalidContext(Exception):
    """An option has no possible value; the text names it."""


def context(base_url: str, region: str) -> Context:
    """Check both options; raises InvalidContext."""
    if base_url and not re.search(patterns.URL, base_url):
        raise InvalidContext(f"--base-url: expected {patterns.PATTERNS[patterns.URL]}")
    country = region.upper()
    if country and country not in phonenumbers.SUPPORTED_REGIONS:
        raise InvalidContext(f"--region: expected {patterns.PATTERNS[patterns.COUNTRY]}")
    return Context(base_url, country)


def complete(element: Element, given: Context, remarks: Remarks) -> Element:
    """Return the element with all that is in it, completed."""
    content = tuple(
        complete(each, given, remarks) if isinstance(each, Element) else each
        for each in element.content
    )
    completed = replace(element, content=content)
    if given.base_url:
        completed = _with_addresses(completed, given.base_url)
    if given.region:
        completed = _with_numbers(completed, given.region, remarks)
    return completed


def _with_addresses(element: Element, base_url: str) -> Element:
    """Resolve addresses as Twilio does; without an `action` some verbs request the document."""
    action = element.attributes.get("action", "").strip()
    if action or element.name in WITH_OWN_ADDRESS:
        address = _resolved(base_url, action)
        element = replace(element, attributes={**element.attributes, "action": address})
    if element.name in ADDRESS_TEXTS and element.text:
        element = _with_text(element, _resolved(base_url, element.text))
    if element.name == "Stream" and (url := element.attributes.get("url", "").strip()):
        address = _as_stream(_resolved(base_url, url)) if "://" not in url else url
        element = replace(element, attributes={**element.attributes, "url": address})
    return element


def _resolved(base_url: str, address: str) -> str:
    try:
        return urljoin(base_url, address)
    except ValueError:  # such as https://[
        return address


def _as_stream(address: str) -> str:
    """Return the address with the scheme of websockets."""
    return re.sub(r"^http", "ws", address)


def _with_numbers(element: Element, region: str, remarks: Remarks) -> Element:
    if element.name in NUMBER_TEXTS and element.text:
        number = _with_country(element, element.text, region, remarks)
        element = _with_text(element, number)
    if caller_id := element.attributes.get("callerId"):
        number = _with_country(element, caller_id, region, remarks)
        element = replace(element, attributes={**element.attributes, "callerId": number})
    return element


def _with_country(element: Element, text: str, region: str, remarks: Remarks) -> str:
    """Return a number of the region in international form; others, and no numbers, unchanged."""
    try:
        number = phonenumbers.parse(text, region)
    except phonenumbers.NumberParseException:
        return text
    is_whole = phonenumbers.is_possible_number_with_reason(number) == ValidationResult.IS_POSSIBLE
    if "+" in text or "@" in text or number.extension or not is_whole:
        return text
    full = phonenumbers.format_number(number, PhoneNumberFormat.E164)
    remarks.note(element, f"{text} becomes {full}")
    return full


def _with_text(element: Element, text: str) -> Element:
    return replace(element, content=(text, *element.children))
