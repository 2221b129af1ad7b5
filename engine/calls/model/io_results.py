"""What errands bring back to a call: audio, actions, nodes of flows, values of APIs."""

from engine.calls.model.base import StoredEvent
from wire.flow import Node, Scalar
from wire.media import Clip
from wire.verbs import Action

Attempts = tuple[tuple[int, int], ...]  # of a webhook: how long each took in ms, and its status


class MediaFetched(StoredEvent, frozen=True, tag="media-fetched"):
    """The audio asked for is at hand, in the order asked; what could not be had is left out."""

    request: str
    clips: tuple[Clip, ...]
    faults: tuple[str, ...] = ()


class ActionReceived(StoredEvent, frozen=True, tag="action-received"):
    """A webhook or a stored flow said what to do next; None: nothing more."""

    request: str
    action: Action | None
    tries: Attempts = ()


class ActionFailed(StoredEvent, frozen=True, tag="action-failed"):
    """A webhook or a stored flow gave nothing that can run."""

    request: str
    reason: str
    tries: Attempts = ()


class FlowStarted(StoredEvent, frozen=True, tag="flow-started"):
    """A stored flow is a graph of nodes: it begins at one, and stays as this version has it."""

    request: str
    flow_id: str
    version: int
    start: str


class FlowNodeLoaded(StoredEvent, frozen=True, tag="flow-node-loaded"):
    """A node of a flow was read; what it says of the call is filled in."""

    request: str
    name: str
    node: Node


class ApiRequestSucceeded(StoredEvent, frozen=True, tag="api-request-succeeded"):
    """An API request was answered well, with these values."""

    request: str
    status: int
    values: dict[str, Scalar | None]
    tries: Attempts = ()


class ApiRequestFailed(StoredEvent, frozen=True, tag="api-request-failed"):
    """An API request brought nothing; the status if there was one, else 0."""

    request: str
    reason: str
    status: int = 0
    tries: Attempts = ()
