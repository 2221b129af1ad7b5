"""A cache of the flows that calls run: each version is read once, as versions never change."""

from collections.abc import Awaitable, Callable

import structlog

from engine.calls.flows.templates import Lookup, fill
from engine.calls.flows.variables import value_of
from engine.calls.model.call import Call
from engine.calls.model.events import Event
from engine.calls.model.io_commands import LoadFlow, LoadFlowNode
from engine.calls.model.io_results import (
    ActionFailed,
    ActionReceived,
    Attempts,
    FlowStarted,
)
from engine.flows.document import read_outline, static_prompts, why_not_runnable
from engine.flows.node_loading import load_node
from engine.store.errors import StoreDown
from wire.decoding.errors import BadInput
from wire.flow import FlowOutline
from wire.media import Source
from wire.tree import Limits, flow_ids, parse_action
from wire.verbs import Action

log = structlog.get_logger()
MAX_CACHED_VERSIONS = 1_000
LATEST = 0
# Reads a version of an account's flow, with its number; see `Store.flow`.
ReadFlow = Callable[[str, str, int], Awaitable[tuple[int, bytes] | None]]


class FlowCache:
    """Loads flows and their nodes, with the call's variables filled in."""

    def __init__(self, read_flow: ReadFlow, limits: Limits) -> None:
        self._read_flow = read_flow
        self._limits = limits
        self._outlines: dict[tuple[str, str, int], FlowOutline] = {}

    async def load_flow(self, command: LoadFlow, call: Call) -> Event:
        """Read the newest version of a flow."""
        try:
            version, body = await self._read_flow(call.account, command.flow_id, LATEST) or (0, b"")
            if reason := why_not_runnable(command.flow_id, body or None):
                return ActionFailed(command.request, f"unknown_flow: {reason}")
            outline = read_outline(body)
            if outline is None:
                tree = parse_action(fill(body, call_variables(call)), self._limits)
                await self.check_flow_ids(call.account, tree)
                return ActionReceived(command.request, tree)
        except BadInput as error:
            return no_action(command.request, error)
        except StoreDown as error:
            log.warning("flow not read", call_id=call.id, flow=command.flow_id, error=str(error))
            return ActionFailed(command.request, f"store_down: {error.detail}")
        self._keep((call.account, command.flow_id, version), outline)
        return FlowStarted(command.request, command.flow_id, version, outline.start)

    async def check_flow_ids(self, account: str, action: Action) -> None:
        """Check that the stored flows of a tree can run; raises BadInput, StoreDown."""
        for path, flow_id in flow_ids(action, ""):
            found = await self._read_flow(account, flow_id, LATEST)
            if reason := why_not_runnable(flow_id, found[1] if found else None):
                raise BadInput(path, reason, "unknown_flow")

    def prompts(self, account: str, started: FlowStarted) -> tuple[Source, ...]:
        """List the static prompts of a flow, if its version is cached."""
        outline = self._outlines.get((account, started.flow_id, started.version))
        return static_prompts(outline) if outline is not None else ()

    def cached_node(self, command: LoadFlowNode, call: Call) -> Event | None:
        """Return the event that loads a node, if its version is cached."""
        outline = self._outlines.get(_key(command, call))
        return None if outline is None else self._resolve(command, call, outline)

    async def load_node(self, command: LoadFlowNode, call: Call) -> Event:
        """Read a node of the version that the call runs."""
        try:
            found = await self._read_flow(call.account, command.flow_id, command.version)
            outline = read_outline(found[1]) if found is not None else None
        except BadInput as error:
            return no_action(command.request, error)
        except StoreDown as error:
            log.warning("flow not read", call_id=call.id, flow=command.flow_id, error=str(error))
            return ActionFailed(command.request, f"store_down: {error.detail}")
        if outline is None:
            text = f"no version {command.version} of flow {command.flow_id}"
            return ActionFailed(command.request, f"unknown_flow: {text}")
        self._keep(_key(command, call), outline)
        return self._resolve(command, call, outline)

    def _resolve(self, command: LoadFlowNode, call: Call, outline: FlowOutline) -> Event:
        try:
            return load_node(command, outline, call_variables(call), self._limits)
        except BadInput as error:
            return no_action(command.request, error)

    def _keep(self, key: tuple[str, str, int], outline: FlowOutline) -> None:
        self._outlines.pop(key, None)
        self._outlines[key] = outline
        if len(self._outlines) > MAX_CACHED_VERSIONS:
            del self._outlines[next(iter(self._outlines))]


def no_action(request: str, error: BadInput, tries: Attempts = ()) -> ActionFailed:
    """Return the event of an action that cannot run."""
    code = error.code if error.code == "unknown_flow" else "invalid_action"
    return ActionFailed(request, f"{code}: {error}", tries)


def call_variables(call: Call) -> Lookup:
    """Return the lookup of a call's variables by name, for filling templates."""

    def value(name: str) -> object:
        return value_of(call, name)

    return value


def _key(command: LoadFlowNode, call: Call) -> tuple[str, str, int]:
    return call.account, command.flow_id, command.version
