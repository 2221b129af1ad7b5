"""The timeline of a recorded demo call and its ladder diagram."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from base.timeline.timers import Moment
from tests.harness.timelines import timeline_of
from wire.views import CallView, Timeline
from wire.webhook_log import AttemptSummary

INBOUND = Path(__file__).with_name("inbound.json")
GOLDEN = Path(__file__).with_name("inbound.txt")


class RecordedCall(Struct, frozen=True):
    """A call and its moments."""

    call: CallView
    moments: tuple[Moment, ...]


def read_call(path: Path = INBOUND) -> RecordedCall:
    """Read a call: by default that with prompt, digits, webhook, dial, goodbye."""
    return msgspec.json.decode(path.read_bytes(), type=RecordedCall)


def timeline(attempts: Sequence[AttemptSummary] = ()) -> Timeline:
    """Return the timeline of the call."""
    found = read_call()
    return timeline_of(found.call, found.moments, attempts)


def until_now(moments: int) -> Timeline:
    """Return the timeline as it was after so many moments."""
    found = read_call()
    live = replace(found.call, ended_ms=0, status="in-progress", state="playing")
    return timeline_of(live, found.moments[:moments])
