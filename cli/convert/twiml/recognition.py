"""The attributes of a Gather that understand speech."""

from typing import Any

from cli.convert.recognition import SILENCE_LIMITS_S, hint_fields
from cli.convert.remarks import Remarks
from cli.convert.twiml import attributes
from cli.convert.twiml.document import Element

SPEECH_INPUT = {
    "language", "speechTimeout", "speechModel", "hints", "profanityFilter", "enhanced",
    "partialResultCallback", "partialResultCallbackMethod",
}  # fmt: skip
_INPUTS = {"dtmf": "digits", "speech": "speech"}
_SPEECH_TIMEOUT = {"": "has no speechTimeout", "auto": "speechTimeout auto"}
_DIGITS = "$OOV_CLASS_DIGIT_SEQUENCE"


def wanted_input(element: Element, remarks: Remarks) -> list[str]:
    """Return what a Gather collects: speech, digits or both."""
    named = element.attributes.get("input", "dtmf").split()
    if not named or not set(named) <= _INPUTS.keys():
        remarks.lose(element, f"input: dtmf, speech or both are expected, not {' '.join(named)!r}")
    return [_INPUTS[each] for each in ("speech", "dtmf") if each in named] or ["digits"]


def speech_fields(element: Element, collected: list[str], remarks: Remarks) -> dict[str, Any]:
    """Return the fields of a gather that understands speech, without its language."""
    hints = _hints(element, remarks)
    data = {"input": collected, **hint_fields(element, hints, remarks)}
    if silence_ms := _silence_ms(element, remarks):
        data["endpointing"] = {"silenceMs": silence_ms}
    if not attributes.flag(element, "bargeIn", remarks, default=True):
        data["bargeIn"] = "off"
        if "digits" in collected:
            remarks.note(element, "bargeIn false: a key ends the prompt all the same")
    _remark_rest(element, remarks)
    return data


def _hints(element: Element, remarks: Remarks) -> list[str]:
    found: list[str] = []
    for each in element.attributes.get("hints", "").split(","):
        hint = " ".join(each.split())
        if hint == _DIGITS:
            hint = "$digits"
        elif hint.startswith("$"):
            remarks.lose(element, f"hints: {hint} is left out; $digits is the only class")
            continue
        if hint and hint not in found:
            found.append(hint)
    return found


def _silence_ms(element: Element, remarks: Remarks) -> int:
    """Return the silence that ends an utterance; 0: the default."""
    text = element.attributes.get("speechTimeout", "").strip()
    if text in _SPEECH_TIMEOUT:
        remarks.note(element, f"{_SPEECH_TIMEOUT[text]}: 0.7 s of silence end an utterance")
        return 0
    return 1_000 * attributes.number(element, "speechTimeout", 1, SILENCE_LIMITS_S, remarks)


def _remark_rest(element: Element, remarks: Remarks) -> None:
    for name in sorted(element.attributes.keys() & {"speechModel", "enhanced"}):
        remarks.note(element, f"{name} is left out: `recognizer` says who understands the speech")
    if attributes.flag(element, "profanityFilter", remarks, default=False):
        remarks.lose(element, "profanityFilter is not converted: no word is masked")
    if "partialResultCallback" in element.attributes:
        text = "the webhook gets the speech when it has ended; a fork hears it at once"
        remarks.lose(element, f"partialResultCallback is not converted: {text}")
