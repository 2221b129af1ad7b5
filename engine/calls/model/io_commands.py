"""What a call wants of the engine itself: audio, answers of customers' servers, stored flows."""

from engine.calls.model.base import StoredCommand
from wire.media import Source


class FetchMedia(StoredCommand, frozen=True, tag="fetch-media"):
    """Get audio ready and tell, by MediaFetched."""

    request: str
    sources: tuple[Source, ...]


class PrefetchMedia(StoredCommand, frozen=True, tag="prefetch-media"):
    """Get audio ready that the tree will want later; nobody waits."""

    sources: tuple[Source, ...]


class SendWebhook(StoredCommand, frozen=True, tag="send-webhook"):
    """Ask a customer's server for the next action; `request` is the idempotency key."""

    request: str
    url: str
    body: bytes  # JSON, of wire.webhooks


class LoadFlow(StoredCommand, frozen=True, tag="load-flow"):
    """Read a stored flow: a tree, filled in, or the way into a graph."""

    request: str
    flow_id: str


class LoadFlowNode(StoredCommand, frozen=True, tag="load-flow-node"):
    """Read a node of a flow that runs, and fill it in."""

    request: str
    flow_id: str
    version: int
    node: str


class SendApiRequest(StoredCommand, frozen=True, tag="send-api-request"):
    """Send a stored API request, filled in; `request` is the idempotency key."""

    request: str
    api: str


IoCommand = FetchMedia | SendWebhook | LoadFlow | LoadFlowNode | SendApiRequest
