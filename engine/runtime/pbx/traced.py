"""What calls ask of nodes and of customers' servers, as spans; in use only where tracing is on."""

from engine.ari.request import OnReply, Reply, Request
from engine.calls.model.ids import call_of, slot_and_node
from engine.observe.traces import Traces
from engine.runtime.base.ports import Pbx
from engine.runtime.io.runner import ActionSource
from engine.webhooks.action_client import ActionResponse
from engine.webhooks.errors import WebhookFailed

_WITH_DEED = 3  # channels/{id}/play: a thing, its id, and what is done to it


class TracedPbx:
    """A PBX whose requests are spans of their calls."""

    def __init__(self, pbx: Pbx, traces: Traces) -> None:
        self._pbx = pbx
        self._traces = traces

    def send(self, request: Request, key: str, may_block: bool, done: OnReply) -> None:
        """Send a request on; one that is no call's leaves no span."""
        if slot_and_node(key) is None:
            self._pbx.send(request, key, may_block, done)
            return
        span = self._traces.start_client_span(_name(request), key)

        def ended(reply: Reply) -> None:
            span.set_attribute("http.response.status_code", reply.status)
            span.end("" if reply.ok else f"status {reply.status}")
            done(reply)

        self._pbx.send(request, key, may_block, ended)

    async def ask(self, request: Request) -> Reply:
        """Ask, off every call's path."""
        return await self._pbx.ask(request)


class TracedActionClient:
    """An asker whose questions are spans of their calls."""

    def __init__(self, asker: ActionSource, traces: Traces) -> None:
        self._asker = asker
        self._traces = traces

    async def ask(self, url: str, body: bytes, request_id: str) -> ActionResponse:
        """Ask for the next action; raises WebhookFailed."""
        fault = "given up"  # unless it ends in another way
        with self._traces.client_span("webhook", call_of(request_id) or "") as span:
            try:
                answer = await self._asker.ask(url, body, request_id)
                fault = ""
            except WebhookFailed as error:
                fault = error.reason
                raise
            finally:
                span.set_attribute("switchroom.request_id", request_id)
                span.end(fault)
        return answer


def _name(request: Request) -> str:
    """Name a request without its ids."""
    parts = request.path.split("/")
    deed = f"/{parts[2]}" if len(parts) >= _WITH_DEED else ""
    return f"ARI {request.method} {parts[0]}{deed}"
