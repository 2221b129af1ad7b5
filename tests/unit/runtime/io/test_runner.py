"""Errands: each ends in exactly one event, whatever happens to it."""

import asyncio

from msgspec import json
from msgspec.structs import replace

from engine.calls.model.events import Event
from engine.calls.model.io_commands import (
    FetchMedia,
    LoadFlow,
    LoadFlowNode,
    PrefetchMedia,
    SendApiRequest,
    SendWebhook,
)
from engine.calls.model.io_results import (
    ActionFailed,
    ActionReceived,
    ApiRequestFailed,
    ApiRequestSucceeded,
    FlowNodeLoaded,
    FlowStarted,
    MediaFetched,
)
from tests.unit.calls.harness.builders import CLIPS, HTTPS, outbound, say, tree
from tests.unit.runtime.harness.io_bench import BAD, BROKEN, GOOD, IoBench
from wire.flow import SayNode
from wire.media import Speech
from wire.verbs import SayData


async def test_audio_is_fetched_in_order() -> None:
    """In the order asked; what could not be had is left out and told as a fault."""
    bench = IoBench()
    event = await bench.run(FetchMedia("r", (GOOD, BAD, GOOD)))
    assert event == MediaFetched("r", (CLIPS[1], CLIPS[1]), ("not_found: 404",))


def test_what_is_at_hand() -> None:
    """All of a command's sources, or none."""
    bench = IoBench()
    assert bench.runner.cached_clips((Speech("known"),)) == (CLIPS[0],)
    assert bench.runner.cached_clips((Speech("known"), GOOD)) is None
    bench.runner.prefetch(PrefetchMedia((GOOD,)))
    assert bench.clips.prefetched == (GOOD,)


async def test_a_webhook_is_asked() -> None:
    """Its action, or why there is none, with what it took."""
    bench = IoBench()
    assert await bench.run(SendWebhook("r1", HTTPS, b"{}")) == ActionReceived(
        "r1", tree(say()), ((5, 200),)
    )
    failed = await bench.run(SendWebhook("r2", HTTPS + "500", b"{}"))
    assert isinstance(failed, ActionFailed)
    assert (failed.request, failed.tries) == ("r2", ((7, 500),))


async def test_a_flow_is_read_and_filled() -> None:
    """The account's own flow, with the contact's fields; a bad one is a failure."""
    bench = IoBench()
    await bench.flows.put_flow("acme", "hi", b'{"type":"say","data":{"text":"{{contact.fName}}"}}')
    await bench.flows.put_flow("acme", "bad", b'{"type":"{{contact.fName}}"}')
    await bench.flows.put_flow("other", "theirs", b'{"type":"hangup"}')
    messages = {"kind": "message", "start": "a", "nodes": {"a": say("hi")}}
    await bench.flows.put_flow("acme", "chat", json.encode(messages))
    assert await bench.run(LoadFlow("r", "hi")) == ActionReceived("r", tree(say("Ada")))
    for flow_id, why in (
        ("bad", "Invalid value"),
        ("theirs", "no flow"),
        ("down", "gone"),
        ("chat", "of kind message"),
    ):
        failed = await bench.run(LoadFlow("r", flow_id))
        assert isinstance(failed, ActionFailed)
        assert why in failed.reason


async def test_a_graph_is_entered_and_its_nodes_are_read() -> None:
    """Its version is told; from then on a node is at hand, filled in with what the call knows."""
    bench = IoBench()
    say_hi = {"type": "say", "data": {"text": "{{contact.fName}}"}}
    bad = {"type": "say", "data": {"text": "{{contact.none}}"}}
    bye = {"type": "say", "data": {"text": "Bye"}}
    body = {"start": "hi", "nodes": {"hi": say_hi, "bad": bad, "bye": bye}}
    await bench.flows.put_flow("acme", "menu", json.encode(body))
    asked = LoadFlowNode("r2", "menu", 1, "hi")
    assert bench.runner.cached_node(asked, outbound()) is None
    filled = FlowNodeLoaded("r2", "hi", SayNode(SayData("Ada")))
    assert await bench.run(asked) == filled
    assert await bench.run(LoadFlow("r1", "menu")) == FlowStarted("r1", "menu", 1, "hi")
    assert bench.clips.prefetched == (Speech("Bye"),)
    assert bench.runner.cached_node(asked, outbound(contact={"fName": "Ada"})) == filled
    assert bench.runner.cached_node(asked, replace(outbound(), account="other")) is None
    for node, version, why in (("bad", 1, "nodes.bad.data.text"), ("hi", 2, "no version 2")):
        failed = await bench.run(LoadFlowNode("r", "menu", version, node))
        assert isinstance(failed, ActionFailed)
        assert why in failed.reason


async def test_an_api_is_asked() -> None:
    """Its values and status, or why there are none; a fault of ours is a failure too."""
    bench = IoBench()
    answered = ApiRequestSucceeded("r", 200, {"name": "Ada", "key": "r"}, ((4, 200),))
    assert await bench.run(SendApiRequest("r", "good")) == answered
    assert await bench.run(SendApiRequest("r", "bad")) == ApiRequestFailed(
        "r", "status_404", 404, ((3, 404),)
    )
    assert await bench.run(SendApiRequest("r", "bug")) == ApiRequestFailed("r", "internal")


async def test_a_fault_of_ours_is_an_event_too() -> None:
    """The call goes on as if the other side had failed."""
    bench = IoBench()
    assert await bench.run(FetchMedia("r", (BROKEN,))) == MediaFetched("r", (), ("internal",))
    assert await bench.run(SendWebhook("r", HTTPS + "bug", b"")) == ActionFailed("r", "internal")


async def test_a_second_run_adds_nothing() -> None:
    """What a recovery asks again while it is under way is asked once, and answers who asked last.

    Who asked first may have given the call up meanwhile.
    """
    bench = IoBench()
    bench.actions.may_answer.clear()
    errand = SendWebhook("r", HTTPS, b"{}")
    first: list[Event] = []
    bench.runner.run(errand, outbound(), first.append)
    await asyncio.sleep(0)
    again = asyncio.create_task(bench.run(errand))
    await asyncio.sleep(0)
    bench.actions.may_answer.set()
    assert isinstance(await again, ActionReceived)
    assert bench.actions.requests == ["r"]
    assert first == []


async def test_closing_leaves_errands_undone() -> None:
    """The outbox remembers them: no event is made up."""
    bench = IoBench()
    bench.actions.may_answer.clear()
    bench.runner.run(SendWebhook("r", HTTPS, b"{}"), outbound(), bench.events.append)
    await asyncio.sleep(0)
    await bench.runner.close()
    assert bench.events == []
