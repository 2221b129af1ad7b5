"""redirect: another webhook is asked for the tree that takes the place of this one."""

import json
from typing import Any

from msgspec.structs import replace

from engine.calls.model.call import Call
from engine.calls.model.call_states import AwaitingInstructions
from engine.calls.model.commands import Answer, Hangup
from engine.calls.model.events import CallOpened, PlaybackEnded
from engine.calls.model.io_commands import LoadFlowNode, PrefetchMedia, SendWebhook
from engine.calls.model.io_results import ActionFailed, ActionReceived
from engine.calls.verbs.awaiting_instructions import WEBHOOK_TIMEOUT_MS
from engine.calls.verbs.registry import MAX_VERBS
from tests.harness.calls.builders import HTTPS, ID, MAIN, Story, answered_call, inbound, say, tree
from tests.harness.calls.flow_calls import spoken_text
from tests.harness.calls.flows import load_nodes, outline, run_flow
from wire.media import Speech


def redirect(**data: Any) -> dict[str, Any]:
    return {"type": "redirect", "data": {"url": HTTPS, **data}}


def requests(story: Story) -> list[SendWebhook]:
    return story.commands_of(SendWebhook)


def respond(story: Story, action: Any) -> None:
    """Answer the webhook that was requested last."""
    response = ActionReceived(requests(story)[-1].request, action and tree(action))
    story.take(response)


def test_the_address_is_requested() -> None:
    """With the event `redirect`, and the time that other webhooks have."""
    story = answered_call(redirect(), custom_data={"order": 7})
    (webhook,) = requests(story)
    body = json.loads(webhook.body)
    assert webhook.url == HTTPS
    assert (body["event"], body["callId"], body["customData"]) == ("redirect", ID, {"order": 7})
    assert story.state_as(AwaitingInstructions).deadline_ms == story.now + WEBHOOK_TIMEOUT_MS


def test_the_response_takes_the_place_of_the_tree() -> None:
    """What followed the redirect does not run: the call ends with the response's tree."""
    story = answered_call({**redirect(), "action": say("never")})
    respond(story, say("hello"))
    assert spoken_text(story) == "hello"
    story.deliver_media()
    assert story.take(PlaybackEnded(f"{ID}.p2")) == (Hangup(MAIN, 16),)


def test_a_failed_request_leads_to_the_fallback() -> None:
    """Whose audio was fetched before; without a fallback the call is hung up."""
    story = answered_call(redirect(fallback=say("later")))
    assert PrefetchMedia((Speech("later"),)) in story.commands
    story.take(ActionFailed(requests(story)[-1].request, "status_500"))
    assert spoken_text(story) == "later"
    story = answered_call(redirect())
    assert story.take(ActionFailed(requests(story)[-1].request, "status_500")) == (
        Hangup(MAIN, 127),
    )
    assert story.call.reason == "action_failed:status_500"


def test_its_own_fallback_counts_before_that_of_the_call() -> None:
    assert fallback_of(redirect(fallback=say("own"))) == tree(say("own"))
    assert fallback_of(redirect()) == tree(say("of the call"))


def fallback_of(action: dict[str, Any]) -> Any:
    story = Story(_with_fallback(inbound(action, answer_deferred=True)))
    story.take(CallOpened())
    return story.state_as(AwaitingInstructions).fallback


def _with_fallback(call: Call) -> Call:
    return replace(call, state=replace(call.state, fallback=tree(say("of the call"))))


def test_a_caller_who_is_not_answered_goes_on_ringing() -> None:
    """The response may reject the call, or answer it."""
    story = Story(inbound(redirect(), answer_deferred=True))
    story.take(CallOpened())
    assert not story.commands_of(Answer)
    respond(story, say())
    assert story.commands_of(Answer)


def test_redirects_without_end() -> None:
    """A webhook that always redirects ends the call."""
    story = answered_call(redirect())
    for _ in range(MAX_VERBS):
        if story.state == "ending":
            break
        respond(story, redirect())
    assert (story.state, story.call.reason) == ("ending", "too_many_verbs")


FLOW = outline("a", a={**redirect(), "next": "b"}, b=say("after it"))


def test_a_flow_goes_on_after_the_tree() -> None:
    """The node's `next` follows the tree that the webhook returned."""
    story = run_flow(FLOW)
    respond(story, say("of the webhook"))
    assert spoken_text(story) == "of the webhook"
    story.deliver_media()
    playback = story.call.state.active_prompt
    assert playback is not None
    load_nodes(story, FLOW, story.take(PlaybackEnded(playback[0])))
    assert spoken_text(story) == "after it"


def test_a_flow_goes_on_after_a_failed_request() -> None:
    """At `next`, after the fallback if the node has one."""
    story = run_flow(FLOW)
    failed = ActionFailed(requests(story)[-1].request, "timeout")
    load_nodes(story, FLOW, story.take(failed))
    assert spoken_text(story) == "after it"
    flow = outline("a", a={**redirect(fallback=say("sorry")), "next": "b"}, b=say("after it"))
    story = run_flow(flow)
    story.take(ActionFailed(requests(story)[-1].request, "timeout"))
    assert spoken_text(story) == "sorry"
    assert [each.node for each in story.commands_of(LoadFlowNode)] == ["a"]
