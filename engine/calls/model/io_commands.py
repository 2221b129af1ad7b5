"""Commands that the engine runs itself: fetch audio, send webhooks and API requests, load flows."""

from engine.calls.model.event_and_command_bases import StoredCommand
from wire.media import Source


class FetchMedia(StoredCommand, frozen=True, tag="fetch-media"):
    """Fetch audio; MediaFetched is the result."""

    request: str
    sources: tuple[Source, ...]


class PrefetchMedia(StoredCommand, frozen=True, tag="prefetch-media"):
    """Fetch audio that the action tree will need later; there is no result."""

    sources: tuple[Source, ...]


class SendWebhook(StoredCommand, frozen=True, tag="send-webhook"):
    """Request the next action from a customer's server; `request` is the idempotency key."""

    request: str
    url: str
    body: bytes  # JSON, of wire.webhooks
    has_sealed_digits: bool = False  # they are opened when it is sent


class LoadFlow(StoredCommand, frozen=True, tag="load-flow"):
    """Load a stored flow: an action tree with templates filled in, or a graph's first node."""

    request: str
    flow_id: str


class LoadFlowNode(StoredCommand, frozen=True, tag="load-flow-node"):
    """Load a node of a running flow and fill in its templates."""

    request: str
    flow_id: str
    version: int
    node: str


class SendApiRequest(StoredCommand, frozen=True, tag="send-api-request"):
    """Send a stored API request, filled in; `request` is its idempotency key."""

    request: str
    api: str


IoCommand = FetchMedia | SendWebhook | LoadFlow | LoadFlowNode | SendApiRequest
