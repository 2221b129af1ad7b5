"""The object `recognizer` of a gather: who understands the caller, and what is likely."""

from typing import Any

from cli.convert.jambonz.document import Part
from cli.convert.jambonz.fields import check_known, number, text
from cli.convert.jambonz.job import Job
from cli.convert.recognition import SILENCE_LIMITS_S, hint_fields, spoken_language

_KNOWN = {"vendor", "language", "hints", "asrTimeout"}
_OF_VENDORS = {
    "enhancedModel", "hintsBoost", "interactionType", "label", "model", "naicsCode", "punctuation",
    "singleUtterance", "vad",
}  # fmt: skip
_HINTS = {
    "altLanguages": "a recognizer understands one language",
    "asrDtmfTerminationDigit": "with `digits` in `input`, the first key ends the speech",
    "profanityFilter": "no word is masked",
}
_NO_VENDOR = {"", "default"}


def language_of(part: Part, job: Job) -> str:
    """Return the language that callers speak; empty without one."""
    recognizer = _recognizer(part)
    found = text(recognizer, "language", job)
    return spoken_language(recognizer, "" if found == "default" else found, job.remarks)


def recognizer_fields(part: Part, job: Job) -> dict[str, Any]:
    """Return the fields of a gather for its recognizer, without the language."""
    recognizer = _recognizer(part)
    options = {name for name in recognizer.fields if name.endswith("Options")}
    check_known(recognizer, _KNOWN | _OF_VENDORS | options, job, _HINTS)
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
