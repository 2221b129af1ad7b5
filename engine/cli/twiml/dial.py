"""TwiML's Dial with its numbers, SIP addresses and clients."""

import re
from typing import Any

from engine.cli.twiml import attributes
from engine.cli.twiml.document import Element
from engine.cli.twiml.remarks import Remarks
from wire.decoding import patterns

MAX_PARTIES = 10
_KNOWN = {"timeout", "timeLimit", "callerId", "action", "record", "answerOnBridge"}


def dial(
    element: Element, follows: dict[str, Any] | str | None, remarks: Remarks
) -> dict[str, Any] | str | None:
    """Convert a Dial; without a party that can be called it is left out."""
    attributes.check_known(element, _KNOWN, remarks)
    parties = _parties(element, remarks)
    if len(parties) > MAX_PARTIES:
        remarks.lose(element, f"only the first {MAX_PARTIES} parties are called")
    if not parties:
        remarks.lose(element, "has no party that can be called and is left out")
        return follows
    called = parties[:MAX_PARTIES]
    data: dict[str, Any] = {"number": called[0] if len(called) == 1 else called}
    if "timeLimit" in element.attributes:
        data["timeLimit"] = attributes.number(element, "timeLimit", 14_400, (1, 86_400), remarks)
    data |= _caller_id(element, remarks)
    _remark_recording(element, remarks)
    if element.attributes.get("answerOnBridge") == "true":
        remarks.note(element, 'answerOnBridge: "answer": false on the route of the number')
    timeout = attributes.number(element, "timeout", 30, (1, 86_400), remarks)
    after = attributes.address(element, "action", remarks) or follows
    result = {"type": "dial", "data": data, "timeout": timeout}
    return result | ({"action": after} if after else {})


def _parties(element: Element, remarks: Remarks) -> list[str]:
    """Return the parties of the element's text and children, without those that have no form."""
    found = [party for each in element.children if (party := _party(each, remarks))]
    return [*_checked(element, _without_spaces(element.text), remarks), *found]


def _party(noun: Element, remarks: Remarks) -> str:
    text = _without_spaces(noun.text)
    match noun.name:
        case "Number":
            attributes.check_known(noun, {"sendDigits", "url", "machineDetection"}, remarks)
            _remark_options(noun, remarks)
        case "Sip":
            attributes.check_known(noun, {"url", "username", "password"}, remarks)
            _remark_options(noun, remarks)
            text = text.partition(";")[0].partition("?")[0]
            remarks.note(noun, "SWITCHROOM_SIP_HOSTS must name its host")
        case "Client":
            attributes.check_known(noun, {"url"}, remarks)
            _remark_options(noun, remarks)
            identity = next((each for each in noun.children if each.name == "Identity"), noun)
            text = f"agent:{_without_spaces(identity.text)}"
            remarks.note(noun, f"becomes {text}: set it with `switchroom agent set`")
        case _:
            remarks.lose(noun, "has no counterpart and is left out")
            return ""
    return next(iter(_checked(noun, text, remarks)), "")


def _checked(element: Element, party: str, remarks: Remarks) -> list[str]:
    if party and not re.search(patterns.PARTY, party):
        expected = patterns.PATTERNS[patterns.PARTY]
        remarks.lose(element, f"{party!r} cannot be called: {expected} is expected")
        return []
    return [party] if party else []


def _remark_options(noun: Element, remarks: Remarks) -> None:
    if "url" in noun.attributes:
        remarks.lose(noun, "url is not converted: write its prompt as `whisper` of the dial")
    if "sendDigits" in noun.attributes:
        remarks.lose(noun, "sendDigits is not converted: digits cannot be sent to a party")
    if "username" in noun.attributes:
        remarks.lose(noun, "username and password are not converted: they belong to a trunk")
    if "machineDetection" in noun.attributes:
        remarks.note(noun, "machineDetection is not converted: see docs/answering.md")


def _caller_id(element: Element, remarks: Remarks) -> dict[str, str]:
    text = _without_spaces(element.attributes.get("callerId", ""))
    if text and not re.search(patterns.CALLER_ID, text):
        remarks.lose(element, f"callerId: a number is expected, not {text!r}")
        return {}
    return {"callerId": text} if text else {}


def _remark_recording(element: Element, remarks: Remarks) -> None:
    if element.attributes.get("record", "do-not-record") not in {"do-not-record", "false"}:
        text = '"recordCall": true on the call or the route of the number records it whole'
        remarks.note(element, f"record: {text}")


def _without_spaces(text: str) -> str:
    """Return a party without the characters that make numbers readable."""
    return re.sub(r"[\s()]", "", text) if "@" in text else re.sub(r"[\s().-]", "", text)
