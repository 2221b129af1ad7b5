"""Reading call events for a group over the internal RPC: each once, again until acknowledged.

docs/events.md is the guide.
"""

from typing import Annotated

from msgspec import Meta

from wire import patterns
from wire.base import Name, Shape
from wire.events import CallEvent

EventId = Annotated[str, Meta(pattern=patterns.EVENT_ID)]
MAX_EVENTS = 1_000


class ReadEvents(Shape, frozen=True):
    """Who reads, as query parameters.

    `consumer`: a name of the process' own, the same after a restart. `wait`: seconds for the first
    event. `limit`: no more than about so many. `idle`: what another consumer got, and has not
    acknowledged for so many seconds, is delivered again.
    """

    group: Name
    consumer: Name
    wait: Annotated[float, Meta(ge=0, le=30)] = 0.0
    limit: Annotated[int, Meta(ge=1, le=MAX_EVENTS)] = 100
    idle: Annotated[float, Meta(ge=1, le=3_600)] = 30.0


class DeliveredEvent(Shape, frozen=True):
    """One event, and by which id it is acknowledged; `again`: it was delivered before."""

    id: str
    event: CallEvent
    again: bool = False


class LostEvents(Shape, frozen=True):
    """Events that were cut off before they were read.

    Of this slot, from the entry `first` on, up to and without `end`, and `most` at most.
    """

    slot: int
    first: str
    end: str
    id: str = ""  # by which a group acknowledges that it knows
    most: int = 0  # where that is known


class EventBatch(Shape, frozen=True):
    """What a consumer gets: events in order within a call, and what was lost."""

    events: tuple[DeliveredEvent, ...]
    lost: tuple[LostEvents, ...] = ()


class AcknowledgeEvents(Shape, frozen=True):
    """What a group is done with, by the ids that came with it; again is harmless."""

    group: Name
    ids: Annotated[tuple[EventId, ...], Meta(max_length=10 * MAX_EVENTS)]


class Acknowledged(Shape, frozen=True):
    """How many of them were waiting for that."""

    acknowledged: int


class EventGroup(Shape, frozen=True):
    """How a group stands: events not delivered yet, not acknowledged yet, and lost at most."""

    group: str
    lag: int
    pending: int
    lost: int = 0


class EventGroups(Shape, frozen=True):
    """All groups."""

    groups: tuple[EventGroup, ...]
