"""The attributes of a Gather that understand speech."""

import re
from typing import Any

from engine.cli.twiml import attributes
from engine.cli.twiml.document import Element
from engine.cli.twiml.remarks import Remarks
from wire.decoding import patterns

SPEECH_INPUT = {
    "language", "speechTimeout", "speechModel", "hints", "profanityFilter", "enhanced",
    "partialResultCallback", "partialResultCallbackMethod",
}  # fmt: skip
_INPUTS = {"dtmf": "digits", "speech": "speech"}
_SILENCE_LIMITS_S = (1, 10)
_SPEECH_TIMEOUT = {"": "has no speechTimeout", "auto": "speechTimeout auto"}
_DIGITS = "$OOV_CLASS_DIGIT_SEQUENCE"
_ENGLISH = re.compile(r"en(-|$)", re.IGNORECASE)
_WHISPER = "which an operator adds (docs/operations/speech.md)"


def wanted_input(element: Element, remarks: Remarks) -> list[str]:
    """Return what a Gather collects: speech, digits or both."""
    named = element.attributes.get("input", "dtmf").split()
    if not named or not set(named) <= _INPUTS.keys():
        remarks.lose(element, f"input: dtmf, speech or both are expected, not {' '.join(named)!r}")
    return [_INPUTS[each] for each in ("speech", "dtmf") if each in named] or ["digits"]


def speech_fields(element: Element, collected: list[str], remarks: Remarks) -> dict[str, Any]:
    """Return the fields of a gather that understands speech, without its language."""
    hints = _hints(element, remarks)
    data: dict[str, Any] = {"input": collected}
    if hints:
        data["hints"] = hints
        text = "hints: nothing else is understood, unless `recognizer` is one for free speech"
    else:
        data["recognizer"] = "whisper"
        text = f"has no hints: the recognizer becomes whisper, {_WHISPER}"
    remarks.note(element, text)
    if silence_ms := _silence_ms(element, remarks):
        data["endpointing"] = {"silenceMs": silence_ms}
    if not attributes.flag(element, "bargeIn", remarks, default=True):
        data["bargeIn"] = "off"
        if "digits" in collected:
            remarks.note(element, "bargeIn false: a key ends the prompt all the same")
    _remark_rest(element, remarks)
    return data


def spoken_language(element: Element, remarks: Remarks) -> str:
    """Return the language that callers speak, en-US by default; remark one for few recognizers."""
    text = element.attributes.get("language", "").strip()
    if text and not re.search(patterns.LANGUAGE, text):
        remarks.lose(element, f"language: a tag such as en or hi-IN is expected, not {text!r}")
        return ""
    if text and not _ENGLISH.match(text):
        remarks.lose(
            element,
            f"language {text}: grammar and whisper understand English; name another `recognizer`"
            " of the operator",
        )
    return text


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
    return 1_000 * attributes.number(element, "speechTimeout", 1, _SILENCE_LIMITS_S, remarks)


def _remark_rest(element: Element, remarks: Remarks) -> None:
    for name in sorted(element.attributes.keys() & {"speechModel", "enhanced"}):
        remarks.note(element, f"{name} is left out: `recognizer` says who understands the speech")
    if attributes.flag(element, "profanityFilter", remarks, default=False):
        remarks.lose(element, "profanityFilter is not converted: no word is masked")
    if "partialResultCallback" in element.attributes:
        text = "the webhook gets the speech when it has ended; a fork hears it at once"
        remarks.lose(element, f"partialResultCallback is not converted: {text}")
