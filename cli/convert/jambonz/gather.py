"""The verb `gather`: digits or speech, with a prompt."""

from typing import Any

from msgspec.structs import replace

from cli.convert.jambonz.document import Part
from cli.convert.jambonz.fields import (
    Converter,
    Job,
    check_known,
    flag,
    hook,
    number,
    repeats,
    text,
    whole,
)
from cli.convert.jambonz.prompts import play, played_audio, say, spoken_text
from cli.convert.recognition import SILENCE_LIMITS_S, differs, hint_fields, spoken_language
from cli.convert.result import FOREVER, MAX_REPEATS, MAX_WAIT_S, Action, verb

_INPUTS = ("digits", "speech")
_TIMEOUT_S = 15  # without one
_DIGITS = {"finishOnKey", "numDigits", "maxDigits", "minDigits", "interDigitTimeout", "dtmfBargein"}
_SPEECH = {"recognizer", "bargein", "listenDuringPrompt", "minBargeinWordCount"}
_KNOWN = {"input", "actionHook", "timeout", "say", "play", "synthesizer"}
_HINTS = {
    "partialResultHook": "the webhook gets the speech when it has ended; a fork hears it at once",
    "actionHookDelayAction": "respond at once, with a verb for the time that you need",
    "fillerNoise": "respond at once, with a verb for the time that you need",
    "speechTimeout": "`endpointing.silenceMs` and `maxMs` end an utterance",
    "vad": "a voice is told from a noise in any case",
}
_OF_RECOGNIZER = {"vendor", "language", "hints", "asrTimeout"}
_OF_VENDORS = {
    "enhancedModel", "hintsBoost", "interactionType", "label", "model", "naicsCode", "punctuation",
    "singleUtterance", "vad",
}  # fmt: skip
_RECOGNIZER_HINTS = {
    "altLanguages": "a recognizer understands one language",
    "asrDtmfTerminationDigit": "with `digits` in `input`, the first key ends the speech",
    "profanityFilter": "no word is masked",
}
_NO_VENDOR = {"", "default"}


def gather(part: Part, follows: Action, job: Job) -> Action:
    """Convert a gather; without a hook, what follows it is its action."""
    collected = _input(part, job)
    hears_speech = "speech" in collected
    _check_fields(part, collected, job)
    wait_ms = _wait_ms(part, job)
    data: dict[str, Any] = {"timeout": wait_ms}
    if "digits" in collected:
        data |= _digit_fields(part, wait_ms, job)
    language = language_of(part, job) if hears_speech else ""
    if hears_speech:
        data |= {"input": collected, **recognizer_fields(part, job), **_barge_in(part, job)}
    before, prompt = _prompt(part, language if hears_speech else None, job)
    data |= prompt | ({"language": language} if language else {})
    result: Action = verb("gather", data, hook(part, "actionHook", job) or follows)
    for converter, each in before:
        result = converter(each, result, job)
    return result


def _input(part: Part, job: Job) -> list[str]:
    given = part.fields.get("input", ["digits"])
    named = given if isinstance(given, list) else [given]
    if not named or not all(each in _INPUTS for each in named):
        job.remarks.lose(part, f"input: digits, speech or both are expected, not {given!r}")
    return [each for each in ("speech", "digits") if each in named] or ["digits"]


def _check_fields(part: Part, collected: list[str], job: Job) -> None:
    check_known(part, _KNOWN | _DIGITS | _SPEECH, job, _HINTS)
    for kind, names in (("speech", _SPEECH), ("digits", _DIGITS)):
        for name in sorted(part.fields.keys() & names) if kind not in collected else ():
            job.remarks.note(part, f"{name} is left out: it belongs to {kind} as input")


def _wait_ms(part: Part, job: Job) -> int:
    wait_s = number(part, "timeout", _TIMEOUT_S, (0, MAX_WAIT_S), job)
    if not wait_s:
        job.remarks.note(part, f"timeout 0, none, becomes {MAX_WAIT_S} s")
    return round((wait_s or MAX_WAIT_S) * 1_000)


def _digit_fields(part: Part, wait_ms: int, job: Job) -> dict[str, Any]:
    between_s = number(part, "interDigitTimeout", 0, (0, MAX_WAIT_S), job)
    data: dict[str, Any] = {"digitTimeout": round(between_s * 1_000) or wait_ms}
    if most := [name for name in ("numDigits", "maxDigits") if name in part.fields]:
        data["maxDigits"] = whole(part, most[0], 64, (1, 64), job)
    data["terminator"] = text(part, "finishOnKey", job)
    if whole(part, "minDigits", 1, (0, 64), job) > 1:
        job.remarks.lose(part, "minDigits is not converted: check the digits in your webhook")
    if not flag(part, "dtmfBargein", job, default=True):
        job.remarks.lose(part, "dtmfBargein is not converted: a key always ends the prompt")
    return data


def _barge_in(part: Part, job: Job) -> dict[str, Any]:
    """Return what speech does to the prompt: by default of jambonz nothing."""
    if whole(part, "minBargeinWordCount", 1, (0, 1_000), job) > 1:
        job.remarks.note(part, "minBargeinWordCount: one word ends the prompt, and no cough does")
    if flag(part, "bargein", job, default=False):
        return {}
    if part.fields.get("listenDuringPrompt") is True:
        text = 'listenDuringPrompt needs "bargein": what is said during the prompt is not heard'
        job.remarks.lose(part, text)
    return {"bargeIn": "off"}


def _prompt(
    part: Part, language: str | None, job: Job
) -> tuple[list[tuple[Converter, Part]], dict[str, Any]]:
    """Return the prompts that are verbs before a gather, and its own one.

    `language` is the one that callers speak; a gather has one for both, and no SSML.
    """
    spoken, played = _with_voice(part), part.part("play")
    if spoken is not None:
        prompt = spoken_text(spoken, job)
        if prompt.pop("ssml", False):
            return [(say, spoken)], {}
        if language is not None and differs(prompt.get("language", ""), language):
            job.remarks.note(spoken, "is heard before the gather, whose language is the caller's")
            return [(say, spoken)], {}
        return _earlier(say, spoken, MAX_REPEATS, job), prompt
    if played is None:
        return [], {}
    prompt = played_audio(played, job)
    if isinstance(prompt.get("audioUrl"), list):
        return [(play, played)], {}  # a gather has one address
    return _earlier(play, played, FOREVER, job), prompt


def _with_voice(part: Part) -> Part | None:
    """Return the text of a gather, with the voice that a `config` has set."""
    spoken, voice = part.part("say"), part.fields.get("synthesizer")
    if spoken is None or not isinstance(voice, dict):
        return spoken
    own = spoken.fields.get("synthesizer")
    merged = {**voice, **(own if isinstance(own, dict) else {})}
    return replace(spoken, fields={**spoken.fields, "synthesizer": merged})


def _earlier(
    converter: Converter, prompt: Part, most: int, job: Job
) -> list[tuple[Converter, Part]]:
    """Return all repetitions but the last one, which is the gather's own."""
    loop = repeats(prompt, most, job)
    if loop == 1:
        return []
    return [(converter, replace(prompt, fields={**prompt.fields, "loop": loop - 1}))]


def language_of(part: Part, job: Job) -> str:
    """Return the language that callers speak; empty without one."""
    recognizer = _recognizer(part)
    found = text(recognizer, "language", job)
    return spoken_language(recognizer, "" if found == "default" else found, job.remarks)


def recognizer_fields(part: Part, job: Job) -> dict[str, Any]:
    """Return the fields of a gather for its recognizer, without the language."""
    recognizer = _recognizer(part)
    options = {name for name in recognizer.fields if name.endswith("Options")}
    check_known(recognizer, _OF_RECOGNIZER | _OF_VENDORS | options, job, _RECOGNIZER_HINTS)
    for name in sorted(recognizer.fields.keys() & (_OF_VENDORS | options)):
        job.remarks.note(recognizer, f"{name} is left out: it belongs to a vendor")
    data = _who(recognizer, job)
    if "asrTimeout" in recognizer.fields:
        silence_s = number(recognizer, "asrTimeout", 1, SILENCE_LIMITS_S, job)
        data["endpointing"] = {"silenceMs": round(silence_s * 1_000)}
    return data


def _recognizer(part: Part) -> Part:
    return part.part("recognizer") or Part(f"{part.label}.recognizer", part.line, {})


def _who(recognizer: Part, job: Job) -> dict[str, Any]:
    vendor, hints = text(recognizer, "vendor", job), _hints(recognizer, job)
    if vendor == "deepgram":
        text_ = "vendor deepgram needs the operator's key; the audio of callers goes there"
        job.remarks.note(recognizer, text_)
        return {"recognizer": vendor, **({"hints": hints} if hints else {})}
    if vendor not in _NO_VENDOR:
        job.remarks.note(recognizer, f"vendor {vendor} is left out: `recognizer` has another one")
    return hint_fields(recognizer, hints, job.remarks)


def _hints(recognizer: Part, job: Job) -> list[str]:
    """Return words and phrases; some vendors have objects with a `phrase`."""
    given = recognizer.fields.get("hints", [])
    found = [each.get("phrase") if isinstance(each, dict) else each for each in _list(given)]
    hints = [each.strip() for each in found if isinstance(each, str) and each.strip()]
    if len(hints) != len(found):
        job.remarks.lose(recognizer, "hints: only texts and phrases are converted")
    return list(dict.fromkeys(hints))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
