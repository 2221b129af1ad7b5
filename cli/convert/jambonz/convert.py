"""Converts an application: each verb and what follows it become a verb of a tree."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from cli.convert.context import UNKNOWN, Context
from cli.convert.jambonz.dial import dial
from cli.convert.jambonz.document import Part, read_document
from cli.convert.jambonz.fields import (
    ALTERNATIVES,
    RECORDED,
    TRANSCRIPTS,
    Converter,
    Job,
    check_known,
    hook,
    number,
)
from cli.convert.jambonz.gather import gather
from cli.convert.jambonz.listen import fork, listen
from cli.convert.jambonz.prompts import pause, play, say
from cli.convert.result import Action, Converted, Remarks, checked, verb

_BUSY = {486, 600}
_DEFAULTS = {"synthesizer": ("say", "gather"), "recognizer": ("gather",)}
_HINTS = {
    "amd": "`machineDetection` of the call (docs/answering.md)",
    "bargeIn": "`input` and `bargeIn` of each gather",
    "record": RECORDED,
    "transcribe": TRANSCRIPTS,
}


def convert(content: bytes, context: Context = UNKNOWN) -> Converted:
    """Convert an array of verbs; raises DocumentError if it is none."""
    job = Job(context, Remarks())
    verbs = (*with_defaults(read_document(content)),)
    action: Action = None
    for each in reversed(_reached(verbs, job)):
        action = convert_verb(each, action, job)
    whole = Part("application", 1, {})
    return checked(whole, action or verb("hangup", {}), job.remarks, divided="redirect")


def _reached(verbs: Sequence[Part], job: Job) -> Sequence[Part]:
    """Return the verbs up to the first one that nothing follows."""
    ends = [at for at, each in enumerate(verbs) if is_last(each)]
    if not ends:
        return verbs
    end = verbs[ends[0]]
    for each in verbs[ends[0] + 1 :]:
        if may_go_on(end):
            text = "jambonz runs it if the response of `actionHook` has no verbs: respond with it"
            job.remarks.lose(each, f"after {end.label} is left out: {text}")
        else:
            job.remarks.note(each, f"is left out: never reached, because {end.label} is before it")
    return verbs[: ends[0] + 1]


def hangup(part: Part, _follows: Action, job: Job) -> Action:
    """End the call."""
    check_known(part, set(), job)
    return verb("hangup", {})


def decline(part: Part, _follows: Action, job: Job) -> Action:
    """Reject the call before it is answered."""
    check_known(part, {"status", "reason"}, job)
    job.remarks.note(part, 'needs "answer": false on the route of the number, else it hangs up')
    status = number(part, "status", 603, (400, 699), job)
    return verb("hangup", {"reason": "busy" if status in _BUSY else "rejected"})


def redirect(part: Part, _follows: Action, job: Job) -> Action:
    """Request another address."""
    check_known(part, {"actionHook"}, job)
    url = hook(part, "actionHook", job)
    return verb("redirect", {"url": url}) if url else verb("hangup", {})


def answer(part: Part, follows: Action, job: Job) -> Action:
    """Leave it out: the first verb that needs audio answers."""
    check_known(part, set(), job)
    return follows


def config(part: Part, follows: Action, job: Job) -> Action:
    """Convert what `config` starts; its defaults are in later verbs."""
    check_known(part, {"listen", *_DEFAULTS}, job, _HINTS)
    listen = part.part("listen")
    if listen is None:
        return follows
    if not listen.fields.get("enable"):
        job.remarks.lose(listen, "is left out: `switchroom stream stop` or a request ends a fork")
        return follows
    return fork(listen, follows, job)


def with_defaults(verbs: Sequence[Part]) -> Iterator[Part]:
    """Give each verb what earlier `config` verbs have set, as far as it has nothing of its own."""
    defaults: dict[str, dict[str, Any]] = {}
    for each in verbs:
        if each.label == "config":
            found = {name: each.fields.get(name) for name in _DEFAULTS}
            defaults |= {name: value for name, value in found.items() if isinstance(value, dict)}
            yield each
        else:
            yield _completed(each, defaults)


def _completed(verb: Part, defaults: dict[str, dict[str, Any]]) -> Part:
    fields = dict(verb.fields)
    for name, verbs in _DEFAULTS.items():
        if name in defaults and verb.label in verbs:
            own = fields.get(name)
            fields[name] = {**defaults[name], **(own if isinstance(own, dict) else {})}
    return replace(verb, fields=fields)


VERBS: Mapping[str, Converter] = {
    "answer": answer,
    "config": config,
    "dial": dial,
    "gather": gather,
    "hangup": hangup,
    "listen": listen,
    "pause": pause,
    "play": play,
    "redirect": redirect,
    "say": say,
    "sip:decline": decline,
    "stream": listen,  # another name of it
}
LAST = {"hangup", "redirect", "sip:decline"}
_WITH_HOOK = {"dial", "gather", "listen", "play", "stream"}


def convert_verb(part: Part, follows: Action, job: Job) -> Action:
    """Convert one verb; one without a counterpart is skipped, with a remark."""
    converter = VERBS.get(part.label)
    if converter is None:
        hint = f": {ALTERNATIVES[part.label]}" if part.label in ALTERNATIVES else ""
        job.remarks.lose(part, f"has no counterpart and is left out{hint}")
        return follows
    return converter(part, follows, job)


def is_last(part: Part) -> bool:
    """Return whether what follows a verb is no part of the tree."""
    return part.label in LAST or may_go_on(part)


def may_go_on(part: Part) -> bool:
    """Return whether jambonz runs what follows if the hook's response has no verbs."""
    return part.label in _WITH_HOOK and bool(part.fields.get("actionHook"))
