"""The verb `config`: defaults for later verbs, and a fork of the call's audio."""

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from cli.convert.actions import Action
from cli.convert.jambonz.alternatives import RECORDED, TRANSCRIPTS
from cli.convert.jambonz.document import Part
from cli.convert.jambonz.fields import check_known
from cli.convert.jambonz.job import Job
from cli.convert.jambonz.listen import fork

_DEFAULTS = {"synthesizer": ("say", "gather"), "recognizer": ("gather",)}
_HINTS = {
    "amd": "`machineDetection` of the call (docs/answering.md)",
    "bargeIn": "`input` and `bargeIn` of each gather",
    "record": RECORDED,
    "transcribe": TRANSCRIPTS,
}


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


def _completed(verb: Part, defaults: dict[str, dict[str, Any]]) -> Part:
    fields = dict(verb.fields)
    for name, verbs in _DEFAULTS.items():
        if name in defaults and verb.label in verbs:
            own = fields.get(name)
            fields[name] = {**defaults[name], **(own if isinstance(own, dict) else {})}
    return replace(verb, fields=fields)
