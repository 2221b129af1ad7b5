"""Nodes of flows that an engine has in memory: a few in one step, others after its commit."""

from collections.abc import Iterable

import pytest

from engine.calls.model.events import Event
from engine.calls.model.io_commands import LoadFlow, LoadFlowNode
from engine.calls.model.io_results import ActionFailed, FlowNodeLoaded, FlowStarted
from engine.calls.model.storage_format import decode_stored_call
from engine.calls.replay_audit import replay
from engine.runtime.shard.live_call import LiveCall
from engine.runtime.shard.step_runner import MAX_NODES_OF_STEP
from tests.harness.calls.flows import RUN
from tests.harness.runtime.shard_scene import ShardScene, answered_call
from wire.flow import SetNode

COUNT = 3 * MAX_NODES_OF_STEP


def loaded(command: LoadFlowNode, faults: tuple[str, ...] = ()) -> Event:
    """Return a node that leads to the next one."""
    number = int(command.node[1:])
    node = SetNode({"x": number}, f"n{number + 1}" if number < COUNT - 1 else None)
    return FlowNodeLoaded(command.request, command.node, node, faults)


def refused(command: LoadFlowNode) -> Event:
    """Return that a node cannot be filled in."""
    return ActionFailed(command.request, "invalid_action: larger than 65536 bytes once filled in")


def start_flow(scene: ShardScene) -> LiveCall:
    """Run a flow of cached nodes until the call waits."""
    live_call = answered_call(scene, RUN)
    command, done = scene.io.running.pop()
    assert isinstance(command, LoadFlow)
    done(FlowStarted(command.request, "support", 1, "n0"))
    return live_call


def log_of(scene: ShardScene) -> Iterable[bytes]:
    return [line for change in scene.writer.changes for line in change.log]


def test_a_step_runs_a_few_nodes() -> None:
    """The next one is loaded when the step is committed, and leads to a few more."""
    scene = ShardScene()
    for number in range(COUNT):
        scene.io.nodes[f"n{number}"] = loaded
    live_call = start_flow(scene)
    assert len(scene.io.nodes) == COUNT - MAX_NODES_OF_STEP
    command, done = scene.io.running.pop()
    assert isinstance(command, LoadFlowNode)
    assert command in decode_stored_call(scene.writer.changes[-1].state).outbox
    done(scene.io.nodes.pop(command.node)(command))
    assert len(scene.io.nodes) == COUNT - 2 * MAX_NODES_OF_STEP - 1
    assert live_call.call.variables == {"vars.x": 2 * MAX_NODES_OF_STEP}
    assert list(replay(list(log_of(scene))))[-1].call == live_call.call


def test_nothing_follows_the_commit_of_a_call_that_ends_meanwhile() -> None:
    """The node that waits for its turn is not run."""
    scene = ShardScene()
    scene.io.nodes = {f"n{number}": loaded for number in range(COUNT)}
    live_call = start_flow(scene)
    command, done = scene.io.running.pop()
    assert isinstance(command, LoadFlowNode)
    variables = live_call.call.variables
    scene.clock.pass_ms(10 * 3_600_000)
    assert live_call.call.is_ended
    done(loaded(command))
    assert live_call.call.variables == variables


@pytest.mark.parametrize("kind", ["skipped", "refused"])
def test_no_node_follows_one_that_does_not_fit(kind: str) -> None:
    """Its values are checked again without each that does not fit: it costs more than others."""
    scene = ShardScene()
    scene.io.nodes = {f"n{number}": loaded for number in range(COUNT)}
    bad = refused if kind == "refused" else lambda command: loaded(command, ("n1.x: no",))
    scene.io.nodes["n1"] = bad
    start_flow(scene)
    assert len(scene.io.nodes) == COUNT - 2
