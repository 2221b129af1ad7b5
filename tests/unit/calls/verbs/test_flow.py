"""Flows that are graphs: nodes run one after another, by their exits."""

import pytest
from msgspec.structs import replace

from engine.calls.flows.variables import MAX_VARIABLES
from engine.calls.model.call_states import AwaitingInstructions
from engine.calls.model.commands import Hangup, Originate
from engine.calls.model.events import LegAnswered, LegCreated, LegEnded
from engine.calls.model.io_commands import LoadFlow, LoadFlowNode
from engine.calls.model.io_results import (
    ActionFailed,
    ApiRequestSucceeded,
    FlowNodeLoaded,
    FlowStarted,
)
from engine.calls.model.requests import DialRequested
from engine.calls.verbs.flow import LOAD_TIMEOUT_MS
from engine.flows.node_loading import load_node
from engine.runtime.io.flow_cache import call_variables
from tests.harness.calls.builders import ID, MAIN, answered_call, say
from tests.harness.calls.flow_calls import LOOKUP_FLOW, spoken_text
from tests.harness.calls.flows import RUN, load_nodes, outline, run_flow, skip_prompt
from wire.flow import VERB_NODES
from wire.tree import DEFAULT_LIMITS
from wire.verbs import Say, SayData


def test_a_flow_runs_its_nodes_then_the_nested_action() -> None:
    """A node without `next` ends the flow, then the nested action runs."""
    flow = outline("a", a=say("first", next="b"), b=say("second"))
    story = run_flow(flow, action=say("after"))
    assert spoken_text(story) == "first"
    assert spoken_text(skip_prompt(story, flow)) == "second"
    assert spoken_text(skip_prompt(story, flow)) == "after"
    assert [each.node for each in story.commands_of(LoadFlowNode)] == ["a", "b"]
    story.deliver_media(())
    assert story.state == "ending"


def test_a_flow_that_ends_hangs_up() -> None:
    """After the last node of the last flow, the call hangs up."""
    assert skip_prompt(run_flow(flow := outline("a", a=say("x"))), flow).state == "ending"
    assert run_flow(outline("a", a={"type": "hangup"})).state == "ending"


def test_a_node_that_cannot_be_loaded_ends_the_call() -> None:
    """Without the node, the flow can't continue."""
    story = answered_call(RUN)
    story.take(FlowStarted(f"{ID}.r1", "support", 1, "a"))
    assert story.state_as(AwaitingInstructions).deadline_ms == story.now + LOAD_TIMEOUT_MS
    story.take(ActionFailed(f"{ID}.r2", "unknown_flow: no version 1"))
    assert (story.state, story.call.reason) == ("ending", "action_failed:unknown_flow")


def test_a_dial_sets_its_result() -> None:
    """`{{dial.status}}` and the other results of a dial are variables."""
    dial = {"type": "dial", "data": {"number": "+4722000012"}, "timeout": 5, "next": "after"}
    flow = outline("sales", sales=dial, after=say("{{dial.status}} {{dial.number}}"))
    story = run_flow(flow)
    leg = story.commands_of(Originate)[-1].leg
    story.take(LegCreated(leg))
    assert spoken_text(load_nodes(story, flow, story.take(LegEnded(leg, 17)))) == "busy +4722000012"
    assert story.call.variables["dial.cause"] == 17


def test_results_that_exceed_the_limits() -> None:
    """The call ends, with that reason: it would go on with variables that are missing."""
    dial = {"type": "dial", "data": {"number": "+4722000012"}, "timeout": 5, "next": "after"}
    flow = outline("sales", sales=dial, after=say("x"))
    story = run_flow(flow)
    story.call = replace(story.call, variables={f"v{n}": n for n in range(MAX_VARIABLES)})
    story.take(LegEnded(story.commands_of(Originate)[-1].leg, 17))
    assert (story.state, story.call.reason) == ("ending", "too_many_variables")


def test_flows_nest_and_share_variables() -> None:
    """A nested flow reads and sets the same variables."""
    outer = outline(
        "a",
        a={"type": "set", "variables": {"x": 1}, "next": "b"},
        b={"type": "flow", "data": {"flowId": "inner"}, "next": "c"},
        c=say("{{vars.y}}"),
    )
    inner = outline("a", a={"type": "set", "variables": {"y": "{{vars.x}}2"}})
    story = run_flow(outer)
    entered = FlowStarted(story.commands_of(LoadFlow)[-1].request, "inner", 7, "a")
    [load] = story.take(entered)
    assert isinstance(load, LoadFlowNode)
    loaded = load_node(load, inner, call_variables(story.call), DEFAULT_LIMITS)
    load_nodes(story, outer, story.take(loaded))
    assert spoken_text(story) == "12"
    assert [each.version for each in story.commands_of(LoadFlowNode)] == [1, 1, 7, 1]
    last = story.commands_of(LoadFlowNode)[-1]
    assert (last.flow_id, last.node) == ("support", "c")


def test_a_conversation_does_not_lose_the_flow() -> None:
    """A party is called in during an API request: its result is kept for afterwards."""
    story = run_flow(LOOKUP_FLOW)
    story.take(DialRequested("+4755", 20))
    leg = story.commands_of(Originate)[-1].leg
    story.take(LegCreated(leg))
    story.take(LegAnswered(leg))
    assert story.state == "bridged"
    story.take(ApiRequestSucceeded(f"{ID}.r3", 200, {"name": "Ada"}))
    assert story.state == "bridged"
    assert spoken_text(load_nodes(story, LOOKUP_FLOW, story.take(LegEnded(leg, 16)))) == "Ada"


@pytest.mark.parametrize("comes", ["during", "after"])
def test_a_result_during_a_conversation(comes: str) -> None:
    """A flow or a node that is loaded during a conversation starts after it."""
    flow = outline("a", a=say("first"))
    story = answered_call(RUN)
    story.take(DialRequested("+4755", 20))
    leg = story.commands_of(Originate)[-1].leg
    if comes == "during":
        story.take(FlowStarted(f"{ID}.r1", "support", 1, "a"))
    for event in (LegCreated(leg), LegAnswered(leg)):
        story.take(event)
    if comes == "after":
        story.take(FlowStarted(f"{ID}.r1", "support", 1, "a"))
    else:
        story.take(
            FlowNodeLoaded(
                story.commands_of(LoadFlowNode)[0].request, "a", VERB_NODES[Say](SayData("first"))
            )
        )
    assert story.state == "bridged"
    assert spoken_text(load_nodes(story, flow, story.take(LegEnded(leg, 16)))) == "first"


def test_the_caller_hangs_up_in_a_flow() -> None:
    """The call ends; nothing of the flow runs any more."""
    story = run_flow(LOOKUP_FLOW)
    story.hang_up()
    assert story.call.is_ended
    assert story.take(ApiRequestSucceeded(f"{ID}.r3", 200, {})) == ()
    assert not story.commands_of(Hangup) or story.commands_of(Hangup)[0].leg == MAIN
