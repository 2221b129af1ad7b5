"""TwiML's Gather: digits or speech, its prompts, and what follows without either."""

from typing import Any

from msgspec.structs import replace

from cli.convert.recognition import SILENCE_LIMITS_S, differs, hint_fields, spoken_language
from cli.convert.result import FOREVER, MAX_REPEATS, MAX_WAIT_S, Action, Remarks, verb
from cli.convert.twiml import attributes
from cli.convert.twiml.document import Element
from cli.convert.twiml.prompts import PROMPTS, convert_prompt, own_prompt

OWN_ADDRESS = "Twilio requests this document, whose address is --base-url"
_DIGIT_INPUT = {"numDigits", "finishOnKey"}
_KNOWN = {"timeout", "action", "input", "actionOnEmptyResult"} | _DIGIT_INPUT
SPEECH_INPUT = {
    "language", "speechTimeout", "speechModel", "hints", "profanityFilter", "enhanced",
    "partialResultCallback", "partialResultCallbackMethod",
}  # fmt: skip
_INPUTS = {"dtmf": "digits", "speech": "speech"}
_SPEECH_TIMEOUT = {"": "has no speechTimeout", "auto": "speechTimeout auto"}
_DIGITS = "$OOV_CLASS_DIGIT_SEQUENCE"


def gather(element: Element, follows: Action, remarks: Remarks) -> Action:
    """Without input a document goes on; a gather does so by its `fallback`."""
    collected = wanted_input(element, remarks)
    hears_speech = "speech" in collected
    _check_attributes(element, collected, remarks)
    spoken = element.attributes.get("language", "").strip()
    language = spoken_language(element, spoken, remarks) if hears_speech else ""
    before, prompt, pause_s = _prompts(element, remarks, language if hears_speech else None)
    wait_s = attributes.number(element, "timeout", 5, (0, MAX_WAIT_S), remarks)
    data: dict[str, Any] = {"timeout": min(wait_s + pause_s, MAX_WAIT_S) * 1_000}
    if "digits" in collected:
        data |= _digit_fields(element, wait_s, remarks)
    if hears_speech:
        data |= speech_fields(element, collected, remarks)
    data |= prompt | ({"language": language} if language else {})
    if not requests_without_input(element):
        data["fallback"] = follows or verb("hangup", {})
    url = attributes.address(element, "action", remarks)
    if not element.attributes.get("action"):
        remarks.lose(element, f"has no action, which gets the input: {OWN_ADDRESS}")
    result: Action = verb("gather", data, url)
    if before:
        remarks.note(element, "only its last prompt can be interrupted; keys before it are kept")
    for each in reversed(before):
        result = convert_prompt(each, result, remarks)
    return result


def requests_without_input(element: Element) -> bool:
    """Return whether `action` is requested in any case."""
    return element.attributes.get("actionOnEmptyResult", "").strip().lower() == "true"


def _check_attributes(element: Element, collected: list[str], remarks: Remarks) -> None:
    known, implied = _KNOWN | SPEECH_INPUT, {"bargeIn": "true"}
    if "speech" in collected:
        known, implied = known | {"bargeIn"}, {}
    attributes.check_known(element, known, remarks, implied)
    for kind, names in (("speech", SPEECH_INPUT), ("digits", _DIGIT_INPUT)):
        for name in sorted(element.attributes.keys() & names) if kind not in collected else ():
            remarks.note(element, f"{name} is left out: it belongs to {kind} as input")


def _digit_fields(element: Element, wait_s: int, remarks: Remarks) -> dict[str, Any]:
    data: dict[str, Any] = {"digitTimeout": wait_s * 1_000}
    if "numDigits" in element.attributes:
        data["maxDigits"] = attributes.number(element, "numDigits", 64, (1, 64), remarks)
    if (key := attributes.terminator(element, "#", remarks)) != "#":
        data["terminator"] = key
    return data


def _prompts(
    element: Element, remarks: Remarks, language: str | None
) -> tuple[list[Element], dict[str, Any], int]:
    """Return the verbs before a gather, its own prompt, and the seconds of pauses after it.

    `language` is the one that callers speak; a gather has one for both.
    """
    prompts = []
    for each in element.children:
        if each.name in PROMPTS:
            prompts.append(each)
        else:
            remarks.lose(each, "in <Gather> is left out: only texts, audio and pauses can be in it")
    pause_s = 0
    while prompts and prompts[-1].name == "Pause":
        pause_s += attributes.number(prompts.pop(), "length", 1, (0, MAX_WAIT_S), remarks)
    if not prompts:
        return [], {}, pause_s
    *before, last = prompts
    prompt = own_prompt(last, remarks)
    if prompt.pop("ssml", False):
        return prompts, {}, pause_s  # a gather has no SSML
    if language is not None and differs(prompt.get("language", ""), language):
        remarks.note(last, "is heard before the gather, whose language is the caller's")
        return prompts, {}, pause_s
    most = MAX_REPEATS if last.name == "Say" else FOREVER
    if prompt and (loop := attributes.repeats(last, most, remarks)) > 1:
        before.append(replace(last, attributes={**last.attributes, "loop": str(loop - 1)}))
    return before, prompt, pause_s


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
