"""Fields of jambonz verbs as values; what is not understood, or has no counterpart, is remarked."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from msgspec import Struct

from cli.convert.addresses import checked_address, resolved
from cli.convert.context import Context
from cli.convert.jambonz.document import Part
from cli.convert.result import Action, Remarks

_FOR_EVER = ("forever", 0)
NO_HINTS: Mapping[str, str] = {}
_AGENTS = "ring a group of agents with a list in `number` of dial"
_BOTS = "a stream connects the caller with a bot of your own (docs/streams/protocols.md)"
_MESSAGES = "templates of a messaging platform (docs/messaging.md)"
_TRANSFER = "a transfer moves a party of a live call (docs/sessions.md)"
TRANSCRIPTS = (
    "a fork with a program of your own hears the call (docs/streams/live-calls.md); recordings may"
    " have transcripts (docs/recordings.md)"
)
RECORDED = '"recordCall": true on the call or the route of the number'
ALTERNATIVES: Mapping[str, str] = {
    "alert": "with `answer: false` on the route of the number, a call rings until it is answered",
    "cognigy": _BOTS,
    "conference": "conference/add-members on a live call makes it a conference (docs/sessions.md)",
    "dequeue": _AGENTS,
    "dialogflow": _BOTS,
    "dtmf": "digits cannot be sent to a party",
    "dub": "a bot of a stream may speak and play at once",
    "enqueue": _AGENTS,
    "leave": _AGENTS,
    "lex": _BOTS,
    "llm": _BOTS,
    "message": _MESSAGES,
    "rasa": _BOTS,
    "sip:refer": _TRANSFER,
    "sip:request": _TRANSFER,
    "tag": "`customData` or `labels` of the call or of the number's route",
    "transcribe": TRANSCRIPTS,
}


class Job(Struct, frozen=True):
    """What every verb needs for its conversion."""

    context: Context
    remarks: Remarks


Converter = Callable[[Part, Action, Job], Action]


def check_known(
    part: Part, known: Collection[str], job: Job, hints: Mapping[str, str] = NO_HINTS
) -> None:
    """Remark fields that are not converted; `hints` say what to use instead."""
    for name in sorted(part.fields.keys() - set(known)):
        hint = f": {hints[name]}" if name in hints else ""
        job.remarks.lose(part, f"{name} is not converted{hint}")


def text(part: Part, name: str, job: Job) -> str:
    """Return a text; empty, with a remark, for another value."""
    value = part.fields.get(name, "")
    if isinstance(value, str):
        return value.strip()
    job.remarks.lose(part, f"{name}: a text is expected, not {value!r}")
    return ""


def number(part: Part, name: str, default: float, limits: tuple[float, float], job: Job) -> float:
    """Return a number within limits, also one that is written as a text."""
    value = part.fields.get(name, default)
    try:
        found = float(value) if isinstance(value, (int, float, str)) else None
    except ValueError:
        found = None
    if found is None or isinstance(value, bool) or found != found:  # noqa: PLR0124 - NaN
        job.remarks.lose(part, f"{name}: a number is expected, not {value!r}; {default:g} is used")
        return default
    least, most = limits
    used = min(max(found, least), most)
    if used != found:
        becomes = f"{name} {found:g} becomes {used:g}: allowed are {least:g} to {most:g}"
        job.remarks.note(part, becomes)
    return int(used) if float(used).is_integer() else used


def whole(part: Part, name: str, default: int, limits: tuple[int, int], job: Job) -> int:
    """Return a whole number within limits."""
    return round(number(part, name, default, limits, job))


def flag(part: Part, name: str, job: Job, *, default: bool) -> bool:
    """Return whether a field is true."""
    value = part.fields.get(name, default)
    if isinstance(value, bool):
        return value
    job.remarks.lose(part, f"{name}: true or false is expected, not {value!r}")
    return default


def texts(part: Part, name: str, job: Job) -> list[str]:
    """Return a text, or several, as a list."""
    value = part.fields.get(name, [])
    found = value if isinstance(value, list) else [value]
    if all(isinstance(each, str) and each.strip() for each in found):
        return [each.strip() for each in found]
    job.remarks.lose(part, f"{name}: texts are expected, not {value!r}")
    return []


def hook(part: Part, name: str, job: Job) -> str | None:
    """Return the address of a webhook: a text, or an object with `url`; None without one."""
    value: Any = part.fields.get(name)
    if value is None:
        return None
    given = value if isinstance(value, dict) else {"url": value}
    if str(given.get("method", "POST")).upper() != "POST":
        job.remarks.note(part, f"{name}: webhooks are always POST, with JSON")
    if {"username", "password"} & given.keys():
        job.remarks.lose(part, f"{name}: user and password are left out; requests are signed")
    url = given.get("url")
    if not isinstance(url, str) or not url:
        job.remarks.lose(part, f"{name}: an address is expected, not {value!r}")
        return None
    return checked_address(part, name, resolved(job.context.base_url, url.strip()), job.remarks)


def repeats(part: Part, most: int, job: Job) -> int:
    """Return how often something is heard; for ever becomes the most."""
    loop = part.fields.get("loop")
    if not isinstance(loop, bool) and loop in _FOR_EVER:
        job.remarks.note(part, f"loop for ever becomes {most}")
        return most
    return whole(part, "loop", 1, (1, most), job)
