"""TwiML's Dial with its numbers, SIP addresses and clients."""

from typing import Any

from cli.convert.parties import agent_party, phone_number, sip_party
from cli.convert.result import MAX_PARTIES, Action, Remarks
from cli.convert.twiml import attributes
from cli.convert.twiml.attributes import alternative
from cli.convert.twiml.document import Element

_KNOWN = {"timeout", "timeLimit", "callerId", "action", "record", "answerOnBridge"}
_IMPLIED = {"hangupOnStar": "false", "sequential": "false"}


def dial(element: Element, follows: Action, remarks: Remarks) -> Action:
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
        number = phone_number(element, "callerId", caller_id, remarks)
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
    own = phone_number(element, "the number", element.text, remarks) if element.text else ""
    found = [own, *(_party(each, remarks) for each in element.children)]
    return [each for each in found if each]


def _party(noun: Element, remarks: Remarks) -> str:
    match noun.name:
        case "Number":
            attributes.check_known(noun, {"sendDigits", "url", "machineDetection"}, remarks)
            _remark_options(noun, remarks)
            _remark_children(noun, set(), remarks)
            return phone_number(noun, "the number", noun.text, remarks)
        case "Sip":
            attributes.check_known(noun, {"url", "username", "password"}, remarks)
            _remark_options(noun, remarks)
            _remark_children(noun, set(), remarks)
            return sip_party(noun, noun.text, remarks)
        case "Client":
            attributes.check_known(noun, {"url"}, remarks)
            _remark_options(noun, remarks)
            _remark_children(noun, {"Identity"}, remarks)
            return agent_party(noun, _identity(noun), remarks)
        case _:
            hint = alternative(noun.name)
            remarks.lose(noun, f"has no counterpart and is left out{hint}")
            return ""


def _identity(noun: Element) -> str:
    return next((each for each in noun.children if each.name == "Identity"), noun).text


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
