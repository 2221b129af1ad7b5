"""Flows for the core's tests: a graph, a call that runs it, and values in it."""

import json
from typing import Any

from engine.calls.model.commands import Command
from engine.calls.model.io_commands import LoadFlow, LoadFlowNode, SendApiRequest
from engine.calls.model.io_results import ApiRequestSucceeded, FlowStarted
from engine.flows.document import read_outline
from engine.flows.node_loading import load_node
from engine.runtime.io.flow_cache import call_variables
from tests.harness.calls.builders import Story, answered_call
from wire.flow import FlowOutline, Scalar
from wire.tree import DEFAULT_LIMITS

API = "0123456789abcdef01234567"
RUN = {"type": "flow", "data": {"flowId": "support"}}


class CountedValue:
    """A value of a call that counts how often it is made to text: of a large one, that is slow."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.count = 0

    def __str__(self) -> str:
        """Return the text."""
        self.count += 1
        return self._text


def outline(start: str, **nodes: Any) -> FlowOutline:
    """Return a flow of nodes."""
    found = read_outline(json.dumps({"start": start, "nodes": nodes}).encode())
    assert found is not None
    return found


def run_flow(flow: FlowOutline, action: Any = None, **fields: Any) -> Story:
    """Return a call that runs a flow, then `action`."""
    story = answered_call({**RUN, "action": action} if action else RUN, **fields)
    request = story.commands_of(LoadFlow)[-1].request
    return load_nodes(story, flow, story.take(FlowStarted(request, "support", 1, flow.start)))


def load_nodes(story: Story, flow: FlowOutline, commands: tuple[Command, ...]) -> Story:
    """Deliver nodes until no more are requested."""
    while loads := [each for each in commands if isinstance(each, LoadFlowNode)]:
        load = loads[0]
        commands = story.take(load_node(load, flow, call_variables(story.call), DEFAULT_LIMITS))
    return story


def answer_request(story: Story, flow: FlowOutline, **values: Scalar | None) -> Story:
    """Deliver the result of the current API request."""
    request = story.commands_of(SendApiRequest)[-1].request
    return load_nodes(story, flow, story.take(ApiRequestSucceeded(request, 200, values)))


def press_digit(story: Story, flow: FlowOutline, digit: str) -> Story:
    return load_nodes(story, flow, story.press(digit))


def pass_deadline(story: Story, flow: FlowOutline) -> Story:
    return load_nodes(story, flow, story.pass_deadline())


def skip_prompt(story: Story, flow: FlowOutline) -> Story:
    """Deliver no audio for the current prompt."""
    return load_nodes(story, flow, story.deliver_media(()))
