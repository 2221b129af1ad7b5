"""The flows that calls run: read once a version, since a version never changes."""

from typing import Protocol

from engine.calls.flows.templates import Lookup, fill
from engine.calls.flows.variables import value_of
from engine.calls.model.call import Call
from engine.calls.model.events import Event
from engine.calls.model.io_commands import LoadFlow, LoadFlowNode
from engine.calls.model.io_results import ActionFailed, ActionReceived, FlowNodeLoaded, FlowStarted
from engine.flows.document import read_outline, resolve_node, static_prompts
from engine.store.errors import StoreDown
from wire.errors import BadInput
from wire.flow import FlowOutline
from wire.media import Source
from wire.tree import Limits, parse_action

MAX_CACHED_VERSIONS = 1_000  # versions in memory
LATEST = 0


class FlowStore(Protocol):
    """Where flows are stored."""

    async def flow(
        self, account: str, flow_id: str, version: int = LATEST
    ) -> tuple[int, bytes] | None:
        """Read a version of a flow."""


class FlowCache:
    """Gives calls what flows say, with what the call knows filled in."""

    def __init__(self, flows: FlowStore, limits: Limits) -> None:
        self._flows = flows
        self._limits = limits
        self._kept: dict[tuple[str, str, int], FlowOutline] = {}

    async def load_flow(self, errand: LoadFlow, call: Call) -> Event:
        """Read the newest version of a flow."""
        try:
            found = await self._flows.flow(call.account, errand.flow_id)
            if found is None:
                return ActionFailed(errand.request, f"no flow {errand.flow_id}")
            version, body = found
            outline = read_outline(body)
            if outline is None:
                tree = parse_action(fill(body, call_variables(call)), self._limits)
                return ActionReceived(errand.request, tree)
        except (BadInput, StoreDown) as error:
            return ActionFailed(errand.request, str(error))
        if outline.kind == "message":
            text = f"flow {errand.flow_id} is of kind message: no call can run it"
            return ActionFailed(errand.request, text)
        self._keep((call.account, errand.flow_id, version), outline)
        return FlowStarted(errand.request, errand.flow_id, version, outline.start)

    def prompts(self, account: str, entered: FlowStarted) -> tuple[Source, ...]:
        """List the audio that a flow will want, if its version is at hand."""
        outline = self._kept.get((account, entered.flow_id, entered.version))
        return static_prompts(outline) if outline is not None else ()

    def cached_node(self, errand: LoadFlowNode, call: Call) -> Event | None:
        """Give what a node says, if its version is at hand."""
        outline = self._kept.get(_place(errand, call))
        return None if outline is None else self._node(errand, call, outline)

    async def load_node(self, errand: LoadFlowNode, call: Call) -> Event:
        """Read a node of the version that the call is at."""
        try:
            found = await self._flows.flow(call.account, errand.flow_id, errand.version)
            outline = read_outline(found[1]) if found is not None else None
        except (BadInput, StoreDown) as error:
            return ActionFailed(errand.request, str(error))
        if outline is None:
            text = f"no version {errand.version} of flow {errand.flow_id}"
            return ActionFailed(errand.request, text)
        self._keep(_place(errand, call), outline)
        return self._node(errand, call, outline)

    def _node(self, errand: LoadFlowNode, call: Call, outline: FlowOutline) -> Event:
        try:
            node = resolve_node(outline, errand.node, call_variables(call), self._limits)
        except BadInput as error:
            return ActionFailed(errand.request, str(error))
        return FlowNodeLoaded(errand.request, errand.node, node)

    def _keep(self, place: tuple[str, str, int], outline: FlowOutline) -> None:
        self._kept.pop(place, None)
        self._kept[place] = outline
        if len(self._kept) > MAX_CACHED_VERSIONS:
            del self._kept[next(iter(self._kept))]


def call_variables(call: Call) -> Lookup:
    """Give what a call knows by name, as documents are filled in with it."""

    def value(name: str) -> object:
        return value_of(call, name)

    return value


def _place(errand: LoadFlowNode, call: Call) -> tuple[str, str, int]:
    return call.account, errand.flow_id, errand.version
