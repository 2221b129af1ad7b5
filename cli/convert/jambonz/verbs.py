"""One function for each verb of jambonz: the verb and what follows it become a verb of a tree."""

from collections.abc import Mapping

from cli.convert.actions import Action, verb
from cli.convert.jambonz.alternatives import ALTERNATIVES
from cli.convert.jambonz.dial import dial
from cli.convert.jambonz.document import Part
from cli.convert.jambonz.fields import check_known, hook, number
from cli.convert.jambonz.gather import gather
from cli.convert.jambonz.job import Converter, Job
from cli.convert.jambonz.listen import listen
from cli.convert.jambonz.prompts import pause, play, say
from cli.convert.jambonz.session import config

_BUSY = {486, 600}


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


def is_last(part: Part) -> bool:
    """Return whether what follows a verb is no part of the tree."""
    return part.label in LAST or may_go_on(part)


def may_go_on(part: Part) -> bool:
    """Return whether jambonz runs what follows if the hook's response has no verbs."""
    return part.label in _WITH_HOOK and bool(part.fields.get("actionHook"))


def convert_verb(part: Part, follows: Action, job: Job) -> Action:
    """Convert one verb; one without a counterpart is skipped, with a remark."""
    converter = VERBS.get(part.label)
    if converter is None:
        hint = f": {ALTERNATIVES[part.label]}" if part.label in ALTERNATIVES else ""
        job.remarks.lose(part, f"has no counterpart and is left out{hint}")
        return follows
    return converter(part, follows, job)
