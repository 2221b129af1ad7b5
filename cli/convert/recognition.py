"""What documents say of speech input: hints, and the language of the caller."""

import re
from collections.abc import Sequence
from typing import Any

from cli.convert.result import Place, Remarks
from wire.decoding import patterns

SILENCE_LIMITS_S = (1, 10)
_ENGLISH = re.compile(r"en(-|$)", re.IGNORECASE)
_WHISPER = "which an operator adds (docs/operations/speech.md)"


def hint_fields(place: Place, hints: Sequence[str], remarks: Remarks) -> dict[str, Any]:
    """Return hints, which a grammar understands; without any the recognizer of sentences."""
    if hints:
        text = "hints: nothing else is understood, unless `recognizer` is one for free speech"
        remarks.note(place, text)
        return {"hints": list(hints)}
    remarks.note(place, f"has no hints: the recognizer becomes whisper, {_WHISPER}")
    return {"recognizer": "whisper"}


def checked_language(place: Place, text: str, remarks: Remarks) -> str:
    """Return a tag; empty, with a remark, for another text."""
    if text and not re.search(patterns.LANGUAGE, text):
        remarks.lose(place, f"language: a tag such as en or hi-IN is expected, not {text!r}")
        return ""
    return text


def spoken_language(place: Place, text: str, remarks: Remarks) -> str:
    """Return the language that callers speak; remark one that few recognizers understand."""
    language = checked_language(place, text, remarks)
    if language and not _ENGLISH.match(language):
        remarks.lose(
            place,
            f"language {language}: grammar and whisper understand English; name another"
            " `recognizer` of the operator",
        )
    return language


def differs(one: str, other: str) -> bool:
    """Return whether two tags are of different languages, not only of regions; empty: English."""
    first, second = (each.partition("-")[0].lower() or "en" for each in (one, other))
    return first != second
