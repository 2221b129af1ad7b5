"""A cache of the flows that calls run: each version is read once, as versions never change."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated
from weakref import WeakValueDictionary

import structlog
from msgspec import Struct

from base.limit import Limit
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
MAX_CALLS_OF_TURN: Annotated[
    int,
    Limit("account", "wait", "Calls whose flows go on in one turn of the engine's event loop."),
] = 2  # each runs up to `MAX_NODES_OF_STEP` nodes then, of 1 ms and more
LATEST = 0
# Reads a version of an account's flow, with its number; see `Store.flow`.
ReadFlow = Callable[[str, str, int], Awaitable[tuple[int, bytes] | None]]
_Key = tuple[str, str, int]  # account, flow and version


class _Version(Struct):
    """A graph, and its prompts once they are searched for, which takes longer than to read it."""

    outline: FlowOutline
    prompts: tuple[Source, ...] | None = None


class FlowCache:
    """Loads flows and their nodes, with the call's variables filled in."""

    def __init__(self, read_flow: ReadFlow, limits: Limits) -> None:
        self._read_flow = read_flow
        self._limits = limits
        self._versions: dict[_Key, _Version] = {}
        # By account, while calls wait.
        self._turns = WeakValueDictionary[str, asyncio.Semaphore]()

    async def load_flow(self, command: LoadFlow, call: Call) -> Event:
        """Read the newest version of a flow."""
        await self._wait_for_turn(call.account)
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
        checked = set[str]()  # a tree may name a large flow in hundreds of places
        for path, flow_id in flow_ids(action, ""):
            if flow_id in checked:
                continue
            checked.add(flow_id)
            found = await self._read_flow(account, flow_id, LATEST)
            if reason := why_not_runnable(flow_id, found[1] if found else None):
                raise BadInput(path, reason, "unknown_flow")

    def prompts(self, account: str, started: FlowStarted) -> tuple[Source, ...]:
        """List the static prompts of a flow, if its version is cached."""
        known = self._versions.get((account, started.flow_id, started.version))
        if known is None:
            return ()
        if known.prompts is None:
            known.prompts = static_prompts(known.outline)
        return known.prompts

    def cached_node(self, command: LoadFlowNode, call: Call) -> Event | None:
        """Return the event that loads a node, if its version is cached."""
        known = self._versions.get(_key(command, call))
        return None if known is None else self._resolve(command, call, known.outline)

    async def load_node(self, command: LoadFlowNode, call: Call) -> Event:
        """Load a node of the version that the call runs; read the version if it is not cached."""
        await self._wait_for_turn(call.account)
        if (cached := self.cached_node(command, call)) is not None:
            return cached
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

    async def _wait_for_turn(self, account: str) -> None:
        """Let few calls of an account go on in a turn of the event loop."""
        turns = self._turns.setdefault(account, asyncio.Semaphore(MAX_CALLS_OF_TURN))
        async with turns:
            await asyncio.sleep(0)

    def _resolve(self, command: LoadFlowNode, call: Call, outline: FlowOutline) -> Event:
        try:
            return load_node(command, outline, call_variables(call), self._limits)
        except BadInput as error:
            return no_action(command.request, error)

    def _keep(self, key: _Key, outline: FlowOutline) -> None:
        known = self._versions.pop(key, None)
        if known is None or known.outline != outline:
            known = _Version(outline)
        self._versions[key] = known
        if len(self._versions) > MAX_CACHED_VERSIONS:
            del self._versions[next(iter(self._versions))]


def no_action(request: str, error: BadInput, tries: Attempts = ()) -> ActionFailed:
    """Return the event of an action that cannot run."""
    code = error.code if error.code == "unknown_flow" else "invalid_action"
    return ActionFailed(request, f"{code}: {error}", tries)


def call_variables(call: Call) -> Lookup:
    """Return the lookup of a call's variables by name, for filling templates."""

    def value(name: str) -> object:
        return value_of(call, name)

    return value


def _key(command: LoadFlowNode, call: Call) -> _Key:
    return call.account, command.flow_id, command.version
