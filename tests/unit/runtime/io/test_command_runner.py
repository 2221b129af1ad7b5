"""I/O commands: each ends in exactly one event, whatever happens."""

import asyncio
import os
from collections.abc import Awaitable, Mapping
from cProfile import Profile

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
from engine.runtime.io.command_runner import Response
from engine.runtime.io.digit_sealer import DigitSealer
from engine.runtime.io.flow_cache import MAX_CALLS_OF_TURN
from tests.harness.calls.builders import CLIPS, HTTPS, outbound, say, tree
from tests.harness.runtime.io_scene import BAD, BROKEN, GOOD, HANGING, IoScene
from tests.harness.store.documents import put_flow
from tests.harness.until import until
from wire.flow import VERB_NODES
from wire.media import MediaFault, Speech
from wire.verbs import Say, SayData
from wire.webhooks import GatherLeg, GatherResult

FLOW = {"type": "flow", "data": {"flowId": "menu"}}


async def test_audio_is_fetched_in_order() -> None:
    """Clips come in the order of the sources; a failed source is omitted and reported."""
    scene = IoScene()
    event = await scene.run(FetchMedia("r", (GOOD, BAD, GOOD)))
    faults = (MediaFault(BAD.url, "not_found"),)
    assert event == MediaFetched("r", (CLIPS[1], CLIPS[1]), ("not_found: 404",), faults)


async def test_an_internal_error_fails_its_own_source() -> None:
    """The others are played."""
    event = await IoScene().run(FetchMedia("r", (GOOD, BROKEN, BAD)))
    faults = (MediaFault(BROKEN.url, "internal"), MediaFault(BAD.url, "not_found"))
    assert event == MediaFetched("r", (CLIPS[1],), ("internal", "not_found: 404"), faults)


async def test_silent_clips_are_named() -> None:
    """They are played like others."""
    scene, sources = IoScene(), (Speech("known"), GOOD)
    event = await scene.run(FetchMedia("r", sources))
    assert event == MediaFetched("r", (CLIPS[1], CLIPS[1]), silent=("known",))
    assert scene.runner.silent("acme", sources) == ("known",)


def test_clips_from_the_cache() -> None:
    """Either all sources are cached, or none is returned."""
    scene = IoScene()
    assert scene.runner.cached_clips("acme", (Speech("known"),)) == (CLIPS[0],)
    assert scene.runner.cached_clips("acme", (Speech("known"), GOOD)) is None
    assert scene.runner.cached_clips("other", (Speech("known"),)) is None
    scene.runner.prefetch(outbound(say()), PrefetchMedia((GOOD,)))
    assert scene.clips.prefetched == (GOOD,)


async def test_a_webhook_is_sent() -> None:
    """The event has the action or the error, and the attempts."""
    scene = IoScene()
    assert await scene.run(SendWebhook("r1", HTTPS, b"{}")) == ActionReceived(
        "r1", tree(say()), ((5, 200),)
    )
    failed = await scene.run(SendWebhook("r2", HTTPS + "500", b"{}"))
    assert isinstance(failed, ActionFailed)
    assert (failed.request, failed.tries) == ("r2", ((7, 500),))


async def test_sensitive_digits_are_named_to_the_log() -> None:
    """The request has them in plain, and the log learns which digits it must not contain."""
    scene = IoScene()
    call_id = outbound().id
    sealed = "".join(scene.sealer.seal(call_id, digit) for digit in "4711")
    result = GatherResult(call_id, sealed, GatherLeg("l0"), "terminator")
    unread = DigitSealer(("another secret",), os.urandom).seal(call_id, "1")
    await scene.run(SendWebhook("r1", HTTPS, json.encode(result), has_sealed_digits=True))
    await scene.run(SendWebhook("r2", HTTPS, b"{}"))
    assert scene.actions.sensitive == ["4711", ""]
    foreign = SendWebhook("r3", HTTPS, json.encode(replace(result, dtmf=unread)), True)
    assert await scene.run(foreign) == ActionFailed("r3", "unreadable_digits")


async def test_an_action_with_an_unknown_flow_fails() -> None:
    """It is reported before any of the action runs, with the path of the flow's id."""
    scene = IoScene()
    dial = {"type": "dial", "data": {"number": "+4722000011"}, "action": FLOW}
    scene.actions.action = tree(dial)
    failed = await scene.run(SendWebhook("r1", HTTPS, b"{}"))
    assert failed == ActionFailed(
        "r1", "unknown_flow: action.data.flowId: no flow menu", ((5, 200),)
    )
    await put_flow(scene.flows, "acme", "outer", json.encode(dial))
    failed = await scene.run(LoadFlow("r2", "outer"))
    assert failed == ActionFailed("r2", "unknown_flow: action.data.flowId: no flow menu")
    await put_flow(scene.flows, "acme", "menu", b'{"type":"hangup"}')
    assert isinstance(await scene.run(SendWebhook("r3", HTTPS, b"{}")), ActionReceived)
    assert isinstance(await scene.run(LoadFlow("r4", "outer")), ActionReceived)
    scene.actions.action = tree({"type": "flow", "data": {"flowId": "down"}})
    assert isinstance(await scene.run(SendWebhook("r5", HTTPS, b"{}")), ActionReceived)


async def test_a_flow_is_loaded_and_filled_in() -> None:
    """Only the account's own flow is loaded, with the contact's fields; others fail with a code."""
    scene = IoScene()
    await put_flow(scene.flows, "acme", "hi", b'{"type":"say","data":{"text":"{{contact.fName}}"}}')
    await put_flow(scene.flows, "acme", "bad", b'{"type":"{{contact.fName}}"}')
    await put_flow(scene.flows, "other", "theirs", b'{"type":"hangup"}')
    messages = {"kind": "message", "start": "a", "nodes": {"a": say("hi")}}
    await put_flow(scene.flows, "acme", "chat", json.encode(messages))
    assert await scene.run(LoadFlow("r", "hi")) == ActionReceived("r", tree(say("Ada")))
    for flow_id, why in (
        ("bad", "invalid_action: type: invalid value"),
        ("theirs", "unknown_flow: no flow theirs"),
        ("down", "store_down: the store can't be used now"),
        ("chat", "unknown_flow: flow chat is of kind message"),
    ):
        failed = await scene.run(LoadFlow("r", flow_id))
        assert isinstance(failed, ActionFailed)
        assert failed.reason.startswith(why)


async def test_a_flow_graph_is_started_and_its_nodes_are_loaded() -> None:
    """The start event has the version; from then on nodes are cached, and filled in per call."""
    scene = IoScene()
    say_hi = {"type": "say", "data": {"text": "{{contact.fName}}"}}
    bad = {"type": "set", "variables": {"1x": "{{contact.none}}"}}
    bye = {"type": "say", "data": {"text": "Bye"}}
    body = {"start": "hi", "nodes": {"hi": say_hi, "bad": bad, "bye": bye}}
    await put_flow(scene.flows, "acme", "menu", json.encode(body))
    command = LoadFlowNode("r2", "menu", 1, "hi")
    assert scene.runner.cached_node(command, outbound()) is None
    filled = FlowNodeLoaded("r2", "hi", VERB_NODES[Say](SayData("Ada")))
    assert await scene.run(command) == filled
    assert await scene.run(LoadFlow("r1", "menu")) == FlowStarted("r1", "menu", 1, "hi")
    assert scene.clips.prefetched == (Speech("Bye"),)
    assert scene.runner.cached_node(command, outbound(contact={"fName": "Ada"})) == filled
    assert scene.runner.cached_node(command, replace(outbound(), account="other")) is None
    for node, version, why in (
        ("bad", 1, "invalid_action: nodes.bad.variables"),
        ("hi", 2, "unknown_flow: no version 2"),
    ):
        failed = await scene.run(LoadFlowNode("r", "menu", version, node))
        assert isinstance(failed, ActionFailed)
        assert failed.reason.startswith(why)


async def test_calls_of_an_account_go_on_in_turn() -> None:
    """A call of another account waits for few of them, however many run their flows at once."""
    scene, ended = IoScene(), list[str]()
    body = json.encode({"start": "a", "nodes": {"a": {"type": "set", "variables": {"x": 1}}}})
    for account in ("acme", "other"):
        await put_flow(scene.flows, account, "menu", body)
    for number in range(20):
        scene.runner.run(
            LoadFlowNode(f"r{number}", "menu", 1, "a"), outbound(), lambda _: ended.append("acme")
        )
    other = replace(outbound(), account="other")
    scene.runner.run(LoadFlowNode("r", "menu", 1, "a"), other, lambda _: ended.append("other"))
    await until(lambda: len(ended) == 21)
    assert ended.index("other") == MAX_CALLS_OF_TURN


async def test_a_flow_that_a_tree_names_is_read_once() -> None:
    """Not for each place that names it."""
    scene = IoScene()
    await put_flow(scene.flows, "acme", "menu", json.encode(say()))
    inner: Mapping[str, object] = FLOW
    for _ in range(20):
        inner = {**FLOW, "action": inner}
    await put_flow(scene.flows, "acme", "tree", json.encode(inner))
    before = scene.flows.reads
    assert isinstance(await scene.run(LoadFlow("r", "tree")), ActionReceived)
    assert scene.flows.reads == before + 2


async def test_prompts_of_a_version_are_searched_for_once() -> None:
    """Not for each call that starts the flow."""
    scene = IoScene()
    nodes = {
        f"n{number}": {"type": "say", "data": {"text": f"x{number}"}, "next": f"n{number + 1}"}
        for number in range(100)
    }
    body = json.encode({"start": "n0", "nodes": {**nodes, "n100": {"type": "hangup"}}})
    await put_flow(scene.flows, "acme", "menu", body)
    counts = []
    for number in range(2):
        with (profile := Profile()):
            await scene.run(LoadFlow(f"r{number}", "menu"))
        counts.append(sum(each.callcount for each in profile.getstats()))
        assert len(scene.clips.prefetched) == 100
    assert counts[1] < counts[0] / 3


async def test_an_api_request_is_sent() -> None:
    """The event has the values and status, or the error; an internal error is a failure, too."""
    scene = IoScene()
    expected = ApiRequestSucceeded("r", 200, {"name": "Ada", "key": "r"}, ((4, 200),))
    assert await scene.run(SendApiRequest("r", "good")) == expected
    assert await scene.run(SendApiRequest("r", "bad")) == ApiRequestFailed(
        "r", "status_404", 404, ((3, 404),)
    )
    assert await scene.run(SendApiRequest("r", "bug")) == ApiRequestFailed("r", "internal")


async def test_middlewares_wrap_each_request() -> None:
    """Webhooks and API requests alike, the first one innermost."""
    wrapped = []

    class Noted:
        def __init__(self, name: str) -> None:
            self._name = name

        async def __call__(self, request_id: str, response: Awaitable[Response]) -> Response:
            received = await response
            wrapped.append((self._name, request_id))
            return received

    scene = IoScene(Noted("inner"), Noted("outer"))
    await scene.run(SendWebhook("r1", HTTPS, b"{}"))
    await scene.run(SendApiRequest("r2", "good"))
    assert wrapped == [("inner", "r1"), ("outer", "r1"), ("inner", "r2"), ("outer", "r2")]


async def test_an_internal_error_is_an_event() -> None:
    """The call continues as if the other side had failed."""
    scene = IoScene()
    faults = (MediaFault(BROKEN.url, "internal"),)
    assert await scene.run(FetchMedia("r", (BROKEN,))) == MediaFetched(
        "r", (), ("internal",), faults
    )
    assert await scene.run(SendWebhook("r", HTTPS + "bug", b"")) == ActionFailed("r", "internal")


async def test_a_command_runs_once() -> None:
    """A command that a recovery repeats while it runs is sent once, and answers the latest caller.

    The first caller may have given the call up in between.
    """
    scene = IoScene()
    scene.actions.may_answer.clear()
    command = SendWebhook("r", HTTPS, b"{}")
    first: list[Event] = []
    scene.runner.run(command, outbound(), first.append)
    await asyncio.sleep(0)
    again = asyncio.create_task(scene.run(command))
    await asyncio.sleep(0)
    scene.actions.may_answer.set()
    assert isinstance(await again, ActionReceived)
    assert scene.actions.requests == ["r"]
    assert first == []


async def test_close_leaves_commands_unfinished() -> None:
    """They stay in the outbox: close emits no event."""
    scene = IoScene()
    scene.actions.may_answer.clear()
    scene.runner.run(SendWebhook("r", HTTPS, b"{}"), outbound(), scene.events.append)
    await asyncio.sleep(0)
    await scene.runner.close()
    assert scene.events == []


async def test_the_audio_of_a_call_that_has_ended() -> None:
    """Its fetch is cancelled without an event, and what was prefetched for it is released."""
    scene, call = IoScene(), outbound(say())
    events = list[Event]()
    scene.runner.run(FetchMedia("r1", (HANGING,)), call, events.append)
    scene.runner.run(SendWebhook("r2", HTTPS, b"{}"), call, events.append)
    await scene.clips.is_fetching.wait()
    scene.runner.release(call.id)
    await scene.clips.is_cancelled.wait()
    assert scene.clips.released == [call.id]
    await until(lambda: [type(event) for event in events] == [ActionReceived], every_s=0.001)
    await scene.runner.close()
