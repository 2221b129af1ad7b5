"""Parties of a dial: numbers with their country, SIP addresses, and agents."""

import re

from cli.convert.result import Place, Remarks
from wire.decoding import patterns
from wire.party import SIP_PREFIXES
from wire.phone_numbers.e164 import e164, normalized
from wire.phone_numbers.international_form import international, is_short
from wire.phone_numbers.written_number import InvalidNumber


def phone_number(place: Place, what: str, text: str, remarks: Remarks) -> str:
    """Return a phone number with its country; empty with a remark for anything else.

    Without a country it would be another one's: 415… is a number of San Francisco, +415… of Zurich.
    """
    number = international(normalized(text), region="")
    if re.search(patterns.FULL_NUMBER, number):
        return number
    if len(number) > 1 and is_short(number):
        remarks.note(place, f"{what} {number} is dialled as it is: short numbers are a carrier's")
        return number
    if re.fullmatch(r"[0-9]+", number):
        hint = "begin it with + and the country, or give --region, such as US"
        remarks.lose(place, f"{what} {text!r} has no country code and is left out: {hint}")
    else:
        remarks.lose(place, f"{what} {text!r} cannot be called: {_why(text)}")
    return ""


def _why(text: str) -> str:
    """Return why a text that is not digits only is no full number."""
    try:
        e164(text, None)
    except InvalidNumber as error:
        return str(error)
    return f"{patterns.PATTERNS[patterns.FULL_NUMBER]} is expected"


def sip_party(place: Place, text: str, remarks: Remarks) -> str:
    """Return a SIP address; empty with a remark if it is none."""
    address, question, headers = re.sub(r"\s", "", text).partition("?")
    if question:
        remarks.lose(place, f"headers are not converted: {headers}")
    address, semicolon, parameters = address.partition(";")
    if semicolon:
        remarks.note(place, f"{parameters} is left out: the trunk has its own")
    scheme, colon, rest = address.partition(":")
    party = f"{scheme.lower()}{colon}{rest}"
    if not party.startswith(SIP_PREFIXES) or not re.search(patterns.PARTY, party):
        remarks.lose(place, f"{address!r} cannot be called: sip:user@host is expected")
        return ""
    remarks.note(place, "SWITCHROOM_SIP_HOSTS must name its host")
    return party


def agent_party(place: Place, name: str, remarks: Remarks) -> str:
    """Return an agent of the account; empty with a remark if it is no name."""
    if not re.search(patterns.NAME, name):
        expected = patterns.PATTERNS[patterns.NAME]
        remarks.lose(place, f"{name!r} cannot be called: {expected} are expected")
        return ""
    remarks.note(place, f"becomes agent:{name}: set it with `switchroom agent set`")
    return f"agent:{name}"
