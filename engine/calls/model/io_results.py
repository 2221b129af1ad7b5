"""Results of IO commands, as events of `step`."""

from engine.calls.model.event_and_command_bases import StoredEvent
from wire.flow import Node, Scalar
from wire.media import Clip, MediaFault
from wire.verbs import Action

Attempts = tuple[tuple[int, int], ...]  # of a request: (duration in ms, HTTP status)


class MediaFetched(StoredEvent, frozen=True, tag="media-fetched"):
    """Audio was fetched: clips in the requested order, without those that failed.

    `silent` names those of which nothing is heard: they are played, as silence may be meant.
    """

    request: str
    clips: tuple[Clip, ...]
    faults: tuple[str, ...] = ()  # texts, for people
    failed: tuple[MediaFault, ...] = ()
    silent: tuple[str, ...] = ()


class ActionReceived(StoredEvent, frozen=True, tag="action-received"):
    """A webhook or a stored flow returned the next action; None: there is none."""

    request: str
    action: Action | None
    tries: Attempts = ()


class ActionFailed(StoredEvent, frozen=True, tag="action-failed"):
    """A webhook or a stored flow returned no valid action: a code, and often `: ` with a detail."""

    request: str
    reason: str
    tries: Attempts = ()


class FlowStarted(StoredEvent, frozen=True, tag="flow-started"):
    """A stored flow is a graph: it starts at this node and keeps this version."""

    request: str
    flow_id: str
    version: int
    start: str


class FlowNodeLoaded(StoredEvent, frozen=True, tag="flow-node-loaded"):
    """A flow node was loaded, with its templates filled in.

    A value that does not fit its field is left out. `is_skipped`: the node cannot run without it.
    """

    request: str
    name: str
    node: Node
    faults: tuple[str, ...] = ()  # texts, for people: the values that are left out
    failed: tuple[MediaFault, ...] = ()  # those of them that were to be played
    is_skipped: bool = False


class ApiRequestSucceeded(StoredEvent, frozen=True, tag="api-request-succeeded"):
    """An API request succeeded with these values."""

    request: str
    status: int
    values: dict[str, Scalar | None]
    tries: Attempts = ()


class ApiRequestFailed(StoredEvent, frozen=True, tag="api-request-failed"):
    """An API request failed; `status` is 0 without a response."""

    request: str
    reason: str
    status: int = 0
    tries: Attempts = ()


CUSTOMER_RESPONSES = (ActionReceived, ActionFailed, ApiRequestSucceeded, ApiRequestFailed)
