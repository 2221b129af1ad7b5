"""TwiML's Dial with its numbers, SIP addresses and clients."""

import re
from typing import Any

from engine.cli.twiml import attributes
from engine.cli.twiml.alternatives import alternative
from engine.cli.twiml.document import Element
from engine.cli.twiml.remarks import Remarks
from wire.decoding import patterns
from wire.party import SIP_PREFIXES
from wire.phone_numbers.international_form import international, to_dial

MAX_PARTIES = 10
_KNOWN = {"timeout", "timeLimit", "callerId", "action", "record", "answerOnBridge"}
_IMPLIED = {"hangupOnStar": "false", "sequential": "false"}


def dial(
    element: Element, follows: dict[str, Any] | str | None, remarks: Remarks
) -> dict[str, Any] | str | None:
    """Convert a Dial; without a party that can be called it is left out."""
    attributes.check_known(element, _KNOWN, remarks, _IMPLIED)
    after = attributes.address(element, "action", remarks) or follows
    parties = _parties(element, remarks)
    if len(parties) > MAX_PARTIES:
        remarks.lose(element, f"only the first {MAX_PARTIES} parties are called")
    if not parties:
        remarks.lose(element, "has no party that can be called and is left out")
        return after
    called = parties[:MAX_PARTIES]
    data: dict[str, Any] = {"number": called[0] if len(called) == 1 else called}
    if "timeLimit" in element.attributes:
        data["timeLimit"] = attributes.number(element, "timeLimit", 14_400, (1, 86_400), remarks)
    if caller_id := element.attributes.get("callerId", "").strip():
        number = _number(element, "callerId", caller_id, remarks)
        data |= {"callerId": number} if number else {}
    _remark_recording(element, remarks)
    if attributes.flag(element, "answerOnBridge", remarks, default=False):
        text = 'answerOnBridge is not converted: set "answer": false on the route of the number'
        remarks.lose(element, text)
    timeout = attributes.number(element, "timeout", 30, (1, 86_400), remarks)
    result = {"type": "dial", "data": data, "timeout": timeout}
    return result | ({"action": after} if after else {})


def _parties(element: Element, remarks: Remarks) -> list[str]:
    """Return the parties of the element's text and children, without those that have no form."""
    own = _number(element, "the number", element.text, remarks) if element.text else ""
    found = [own, *(_party(each, remarks) for each in element.children)]
    return [each for each in found if each]


def _party(noun: Element, remarks: Remarks) -> str:
    match noun.name:
        case "Number":
            attributes.check_known(noun, {"sendDigits", "url", "machineDetection"}, remarks)
            _remark_options(noun, remarks)
            _remark_children(noun, set(), remarks)
            return _number(noun, "the number", noun.text, remarks)
        case "Sip":
            attributes.check_known(noun, {"url", "username", "password"}, remarks)
            _remark_options(noun, remarks)
            _remark_children(noun, set(), remarks)
            return _sip(noun, remarks)
        case "Client":
            attributes.check_known(noun, {"url"}, remarks)
            _remark_options(noun, remarks)
            _remark_children(noun, {"Identity"}, remarks)
            return _agent(noun, remarks)
        case _:
            hint = alternative(noun.name)
            remarks.lose(noun, f"has no counterpart and is left out{hint}")
            return ""


def _number(element: Element, what: str, text: str, remarks: Remarks) -> str:
    """Return a phone number with its country; empty with a remark for anything else.

    Without a country it would be another one's: 415… is a number of San Francisco, +415… of Zurich.
    """
    number = international(re.sub(r"[\s().-]", "", text), country="")
    if re.search(patterns.FULL_NUMBER, number) and "(0)" not in text:
        return number
    if re.fullmatch(r"[0-9]{2,}", number) and to_dial(number, country="") == number:
        remarks.note(element, f"{what} {number} is dialled as it is: short numbers are a carrier's")
        return number
    if re.fullmatch(r"[0-9]+", number):
        hint = "begin it with + and the country, or give --region, such as US"
        remarks.lose(element, f"{what} {text!r} has no country code and is left out: {hint}")
    else:
        expected = patterns.PATTERNS[patterns.FULL_NUMBER]
        remarks.lose(element, f"{what} {text!r} cannot be called: {expected} is expected")
    return ""


def _sip(noun: Element, remarks: Remarks) -> str:
    address, question, headers = re.sub(r"\s", "", noun.text).partition("?")
    if question:
        remarks.lose(noun, f"headers are not converted: {headers}")
    address, semicolon, parameters = address.partition(";")
    if semicolon:
        remarks.note(noun, f"{parameters} is left out: the trunk has its own")
    scheme, colon, rest = address.partition(":")
    party = f"{scheme.lower()}{colon}{rest}"
    if not party.startswith(SIP_PREFIXES) or not re.search(patterns.PARTY, party):
        remarks.lose(noun, f"{address!r} cannot be called: sip:user@host is expected")
        return ""
    remarks.note(noun, "SWITCHROOM_SIP_HOSTS must name its host")
    return party


def _agent(noun: Element, remarks: Remarks) -> str:
    identity = next((each for each in noun.children if each.name == "Identity"), noun).text
    if not re.search(patterns.NAME, identity):
        expected = patterns.PATTERNS[patterns.NAME]
        remarks.lose(noun, f"{identity!r} cannot be called: {expected} are expected")
        return ""
    remarks.note(noun, f"becomes agent:{identity}: set it with `switchroom agent set`")
    return f"agent:{identity}"


def _remark_children(noun: Element, known: set[str], remarks: Remarks) -> None:
    for each in noun.children:
        if each.name not in known:
            remarks.lose(each, f"in <{noun.name}> is not converted")


def _remark_options(noun: Element, remarks: Remarks) -> None:
    if "url" in noun.attributes:
        remarks.lose(noun, "url is not converted: write its prompt as `whisper` of the dial")
    if "sendDigits" in noun.attributes:
        remarks.lose(noun, "sendDigits is not converted: digits cannot be sent to a party")
    if "username" in noun.attributes or "password" in noun.attributes:
        remarks.lose(noun, "username and password are not converted: they belong to a trunk")
    if "machineDetection" in noun.attributes:
        text = "`machineDetection` of the dial (docs/answering.md)"
        remarks.lose(noun, f"machineDetection is not converted: {text}")


def _remark_recording(element: Element, remarks: Remarks) -> None:
    if element.attributes.get("record", "do-not-record") not in {"do-not-record", "false"}:
        text = '"recordCall": true on the call or the route of the number records it whole'
        remarks.lose(element, f"record is not converted: {text}")
