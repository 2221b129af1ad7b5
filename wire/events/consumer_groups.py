"""Consumer groups of call events over the internal RPC: delivery until acknowledged.

docs/events.md is the guide.
"""

from typing import Annotated

from msgspec import Meta

from wire.base import Name, Shape
from wire.decoding import patterns
from wire.events.call_events import CallEvent

EventId = Annotated[str, Meta(pattern=patterns.EVENT_ID)]
EntryId = Annotated[str, Meta(pattern=patterns.ENTRY_ID)]  # of the stream of a shard
MAX_EVENTS = 1_000


class ReadEvents(Shape, frozen=True):
    """Query parameters of a read.

    `consumer`: the process' own name, the same after a restart. `wait`: seconds to wait for the
    first event. `limit`: approximate maximum number of events. `idle`: seconds after which events
    that another consumer has not acknowledged are redelivered.
    """

    group: Name
    consumer: Name
    wait: Annotated[float, Meta(ge=0, le=30)] = 0.0
    limit: Annotated[int, Meta(ge=1, le=MAX_EVENTS)] = 100
    idle: Annotated[float, Meta(ge=1, le=3_600)] = 30.0


class DeliveredEvent(Shape, frozen=True):
    """One event, and the id that acknowledges it; `again`: it was delivered before."""

    id: str
    event: CallEvent
    again: bool = False


class LostEvents(Shape, frozen=True):
    """Events that were trimmed before they were read.

    Of this shard, from the entry `first` on, up to and without `end`; at most `most` events.
    """

    shard: str
    first: str
    end: str
    id: str = ""  # acknowledges the loss
    most: int = 0  # 0: unknown


class ReadEndedCalls(Shape, frozen=True):
    """Query parameters: the shard, first entry and end of a `LostEvents`."""

    shard: Annotated[str, Meta(pattern=patterns.SHARD)]
    first: EntryId
    end: EntryId


class EventBatch(Shape, frozen=True):
    """The events of a read, in order within a call, and lost events."""

    events: tuple[DeliveredEvent, ...]
    lost: tuple[LostEvents, ...] = ()


class AcknowledgeEvents(Shape, frozen=True):
    """Ids of handled events; may be repeated."""

    group: Name
    ids: Annotated[tuple[EventId, ...], Meta(max_length=10 * MAX_EVENTS)]


class AcknowledgementResult(Shape, frozen=True):
    """How many of the ids were pending."""

    acknowledged: int


class EventGroup(Shape, frozen=True):
    """A group's position: undelivered, unacknowledged and (at most) lost events."""

    group: str
    lag: int
    pending: int
    lost: int = 0


class EventGroups(Shape, frozen=True):
    """All consumer groups."""

    groups: tuple[EventGroup, ...]
