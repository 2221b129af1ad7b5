"""Values that do not fit their field of a flow's node: the call goes on without them."""

from typing import Any

import pytest
from msgspec.structs import replace

from engine.calls.model.call_states import AwaitingInstructions, Starting
from engine.calls.model.commands import EmitEvent, Originate
from engine.calls.model.events import CallOpened, LegAnswered, LegCreated
from engine.calls.model.io_commands import FetchMedia, LoadFlow
from engine.calls.model.io_results import ActionFailed, FlowStarted
from tests.harness.calls.builders import MAIN, Story, outbound, say
from tests.harness.calls.flow_calls import spoken_text
from tests.harness.calls.flows import RUN, load_nodes, outline, run_flow
from wire.verbs import Say, SayData

LONG, OTHER = "x" * 5_000, "+4722000012"
CONTACT = {"long": LONG, "bad": "12 34x", "short": "+4712", "http": "http://a.b/c", "o": {"a": 1}}
CUSTOM = {"list": [1, "b"], "big": 2**63, "long": LONG}


def run(node: dict[str, Any], **fields: Any) -> Story:
    """Return a call that has run a flow with this node, then `next`."""
    other = {"next": say("{{dial.status}}{{dial.cause}}{{vars.x}}|"), "error": say("error")}
    edges = {} if node["type"] == "condition" else {"next": "next"}
    flow = outline("node", node={**edges, **node}, **other)
    return run_flow(flow, contact=CONTACT, custom_data=CUSTOM, **fields)


def faults(story: Story) -> list[tuple[Any, Any]]:
    emitted = [each.event for each in story.commands_of(EmitEvent)]
    return [(each.source, each.reason) for each in emitted if each.event == "media-failed"]


def parties(story: Story) -> list[str]:
    """Return the parties that were dialed."""
    return [each.party for each in story.commands_of(Originate)[1:]]


@pytest.mark.parametrize("on_error", [{}, {"onError": "error"}])
@pytest.mark.parametrize(
    ("kind", "data", "field"),
    [
        ("say", {"text": "{{contact.none}}"}, "text"),
        ("say", {"text": "{{contact.long}}"}, "text"),
        ("play", {"audioUrl": "{{contact.none}}"}, "audioUrl"),
        ("play", {"audioUrl": "{{contact.http}}"}, "audioUrl"),
        ("play", {"audioUrl": "https://a.b/{{contact.bad}}"}, "audioUrl"),
        ("play", {"audioUrl": "https://a.b/{{contact.long}}"}, "audioUrl"),
    ],
)
def test_audio_that_is_none(
    kind: str, data: dict[str, Any], field: str, on_error: dict[str, str]
) -> None:
    """It is reported; `onError` runs, or the next node."""
    story = run({"type": kind, "data": data, **on_error})
    assert spoken_text(story) == ("error" if on_error else "|")
    assert faults(story) == [(f"nodes.node.data.{field}", "invalid")]


@pytest.mark.parametrize("prompt", ["{{contact.none}}", "{{contact.long}}"])
def test_prompts_that_are_none(prompt: str) -> None:
    """A menu waits for keys without its prompt; `onError` runs instead."""
    menu = {"type": "menu", "data": {"text": prompt}, "branches": {"1": "a"}, "noInput": "b"}
    flow = outline("menu", menu={**menu, "invalid": "b"}, a=say("a"), b=say("b"))
    story = run_flow(flow, contact=CONTACT)
    assert (story.state, len(faults(story))) == ("gathering", 1)
    assert spoken_text(load_nodes(story, flow, story.press("1"))) == "a"
    flow = outline("menu", menu={**menu, "invalid": "b", "onError": "a"}, a=say("a"), b=say("b"))
    assert spoken_text(run_flow(flow, contact=CONTACT)) == "a"


def test_some_audio_that_is_none() -> None:
    """The rest is played."""
    urls = ["{{contact.none}}", "https://a.b/1", "{{contact.bad}}", "https://a.b/2"]
    [fetch] = run({"type": "play", "data": {"audioUrl": urls}}).commands_of(FetchMedia)
    assert len(fetch.sources) == 2


@pytest.mark.parametrize("value", ["none", "bad", "short", "long", "o"])
def test_a_party_that_is_none(value: str) -> None:
    """The dial has failed like one to an invalid number; an agent beside it is not called."""
    for beside in ({}, {"agent_id": "1001"}):
        story = run({"type": "dial", "data": {"number": f"{{{{contact.{value}}}}}", **beside}})
        assert (spoken_text(story), parties(story)) == ("failed28|", [])
        assert story.call.variables["dial.reason"] == "invalid_number"


@pytest.mark.parametrize(
    "data",
    [
        {"number": ["{{contact.none}}", OTHER, "{{contact.bad}}"]},
        {"number": OTHER, "callerId": "{{contact.bad}}"},
        {"number": OTHER, "whisper": say("{{contact.none}}")},
        {"number": OTHER, "confirm": {"text": "{{contact.long}}"}},
        {"number": OTHER, "agent_id": "{{contact.long}}"},
    ],
)
def test_the_rest_of_a_dial(data: dict[str, Any]) -> None:
    """Its other parties are called, without whispers and prompts that are none."""
    story = run({"type": "dial", "data": data})
    assert parties(story) == [OTHER]


@pytest.mark.parametrize(
    "node",
    [
        {"type": "flow", "data": {"flowId": "{{contact.none}}"}},
        {"type": "stream", "data": {"url": "{{contact.bad}}"}},
    ],
)
def test_other_nodes_that_cannot_run(node: dict[str, Any]) -> None:
    """The next node runs."""
    assert spoken_text(run(node)) == "|"


@pytest.mark.parametrize(
    ("value", "text"), [("contact.o", '{"a":1}'), ("custom.list", '[1,"b"]'), ("custom.big", None)]
)
def test_objects_are_text(value: str, text: str | None) -> None:
    """As they are in other templates; so is an integer too large to be stored."""
    template = f"{{{{{value}}}}}"
    story = run({"type": "set", "variables": {"x": template}})
    assert spoken_text(story) == (text or str(2**63)) + "|"
    case = {"variable": value, "value": template, "next": "error"}
    assert spoken_text(run({"type": "condition", "cases": [case], "else": "next"})) == "error"


@pytest.mark.parametrize(("value", "spoken"), [("{{contact.long}}", "error"), (LONG[1:], "|")])
def test_long_texts_are_compared(value: str, spoken: str) -> None:
    """All of their text counts, also where they are longer than any variable."""
    node = {"type": "condition", "else": "next"}
    for text, expected in ((value, spoken), (value * 6, "|")):
        case = {"variable": "custom.long", "value": text, "next": "error"}
        assert spoken_text(run({**node, "cases": [case]})) == expected


def test_a_flow_that_is_unknown_leads_to_the_next_node() -> None:
    """In the flow that runs it."""
    flow = outline("a", a={"type": "flow", "data": {"flowId": "b"}, "next": "c"}, c=say("c"))
    story = run_flow(flow)
    failed = ActionFailed(story.commands_of(LoadFlow)[-1].request, "unknown_flow: no flow b")
    assert spoken_text(load_nodes(story, flow, story.take(failed))) == "c"


@pytest.mark.parametrize("is_nested", [False, True])
def test_a_flow_that_fails_on_its_way_has_the_fallback(is_nested: bool) -> None:
    """As one that fails at its start; also where another flow runs it."""
    call = outbound(RUN)
    assert isinstance(call.state, Starting)
    fallback = Say(SayData("fallback"))
    story = Story(replace(call, state=replace(call.state, fallback=fallback)))
    for event in (CallOpened(), LegCreated(MAIN), LegAnswered(MAIN)):
        story.take(event)
    flow = outline("a", a={"type": "flow", "data": {"flowId": "b"}})
    started = FlowStarted(story.state_as(AwaitingInstructions).request, "support", 1, "a")
    commands = story.take(started)
    if is_nested:
        load_nodes(story, flow, commands)
        story.take(FlowStarted(story.state_as(AwaitingInstructions).request, "b", 1, "a"))
    story.take(ActionFailed(story.state_as(AwaitingInstructions).request, "unknown_flow"))
    assert spoken_text(story) == "fallback"
    story.deliver_media(())
    assert (story.state, story.call.reason) == ("ending", "")
