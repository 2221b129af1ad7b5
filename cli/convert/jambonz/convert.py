"""Converts a whole application."""

from collections.abc import Sequence

from cli.convert.actions import Action, verb
from cli.convert.context import UNKNOWN, Context
from cli.convert.jambonz.document import Part, read_document
from cli.convert.jambonz.job import Job
from cli.convert.jambonz.session import with_defaults
from cli.convert.jambonz.verbs import convert_verb, is_last, may_go_on
from cli.convert.remarks import Remarks
from cli.convert.result import Converted, checked


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
