"""Flow graphs run along their edges, and each request continues by its response."""

import json
from collections.abc import Iterator, Sequence

from engine.calls.model.call_states import Bridged
from engine.calls.model.continuation import Frame
from engine.calls.model.io_commands import LoadFlowNode
from engine.calls.model.io_results import ApiRequestFailed, ApiRequestSucceeded, FlowNodeLoaded
from engine.calls.replay_audit import ReplayStep
from tests.sim.call_histories import CallHistory
from tests.sim.world_view import WorldView

Leads = dict[int, set[str]]  # possible next nodes of each running flow, by depth


def check(world: WorldView, histories: Sequence[CallHistory]) -> Iterator[tuple[str, str]]:
    """Follow every call through its flows."""
    starts = {name: json.loads(body)["start"] for name, body in world.graphs.items()}
    for history in histories:
        if not any(isinstance(each, LoadFlowNode) for each in history.commands):
            continue
        leads: Leads = {}
        for step in history.steps:
            yield from ((history.id, fault) for fault in _followed(step, leads, starts))


def _followed(step: ReplayStep, leads: Leads, starts: dict[str, str]) -> Iterator[str]:
    depth = _depth(step)
    match step.event:
        case FlowNodeLoaded(node=node, name=name):
            waits = {name} if isinstance(step.call.state, Bridged) else set()
            leads[depth] = {to for _, to in node.exits} | waits
        case ApiRequestSucceeded():
            leads[depth] = leads.get(depth, set()) - {"sorry"}
        case ApiRequestFailed():
            leads[depth] = leads.get(depth, set()) - {"known"}
    for command in step.commands:
        if isinstance(command, LoadFlowNode):
            allowed = leads.get(depth, set()) | {starts[command.flow_id]}
            if command.node not in allowed:
                yield f"went to {command.node}, not to one of {sorted(allowed)}"


def _depth(step: ReplayStep) -> int:
    return sum(isinstance(each, Frame) for each in step.call.continuation)
