"""A call's timeline as customers see it: the engine's, without where the call is."""

import msgspec
from msgspec import Raw, Struct

from api.voice.views import CallDetails, call_details
from wire.views import Lifeline, TimelineRow
from wire.webhook_log import AttemptSummary


class CallTimeline(Struct, frozen=True):
    """What happened in a call, in words and ready to draw, and the attempts to reach servers.

    Without the scope `webhooks` there are no attempts. Of a long call, `omitted` earlier rows are
    left out, which no request gets. An agent's token sees no rows of servers, flows and verbs, and
    of bots only when they spoke.

    A request with `next` as `after` gets the rows and attempts that are new since, and all
    lifelines. The timeline of an old call is made of its record: it has fewer rows, and `next` is
    empty.
    """

    call: CallDetails  # type: ignore[valid-type]  # a shape that is built at run time
    lifelines: tuple[Lifeline, ...]
    rows: tuple[TimelineRow, ...]
    attempts: tuple[AttemptSummary, ...]
    omitted: int
    next: str


def call_timeline(timeline: bytes) -> bytes:
    """Return an engine's timeline of a call as customers see it."""
    found = msgspec.json.decode(timeline, type=dict[str, Raw])
    call = Raw(call_details(bytes(found["call"])))
    return msgspec.json.encode({"attempts": [], "omitted": 0, "next": "", **found, "call": call})
