"""Traces the ARI requests of calls; used only if tracing is enabled."""

from engine.ari.request import OnReply, Reply, Request
from engine.calls.model.ids import slot_and_node
from engine.observe.traces import Traces
from engine.runtime.base.ports import Pbx

_PARTS_WITH_ACTION = 3  # channels/{id}/play


class TracedPbx:
    """Records each request as a span of its call."""

    def __init__(self, pbx: Pbx, traces: Traces) -> None:
        self._pbx = pbx
        self._traces = traces

    def send(self, request: Request, key: str, may_block: bool, done: OnReply) -> None:
        """Forward a request; requests that belong to no call have no span."""
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
        """Forward a query."""
        return await self._pbx.ask(request)


def _name(request: Request) -> str:
    """Return a span name without ids."""
    parts = request.path.split("/")
    action = f"/{parts[2]}" if len(parts) >= _PARTS_WITH_ACTION else ""
    return f"ARI {request.method} {parts[0]}{action}"
