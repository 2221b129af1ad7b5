"""Requesting the next action from a webhook or a stored flow."""

import json

from engine.calls.model.call_states import AwaitingInstructions, Playing
from engine.calls.model.causes import INTERWORKING
from engine.calls.model.commands import Hangup
from engine.calls.model.events import LegRinging, PlaybackEnded, Recovered
from engine.calls.model.io_commands import FetchMedia, LoadFlow, PrefetchMedia, SendWebhook
from engine.calls.model.io_results import ActionFailed, ActionReceived
from engine.calls.verbs.awaiting_instructions import WEBHOOK_TIMEOUT_MS
from engine.calls.verbs.flow import LOAD_TIMEOUT_MS
from engine.calls.verbs.registry import MAX_FLOWS, MAX_VERBS
from tests.harness.calls.builders import HTTPS, ID, MAIN, answered_call, say, tree
from wire.media import Speech

REQUEST = f"{ID}.r1"
FLOW = {"type": "flow", "data": {"flowId": "menu"}}


def test_a_webhook_is_sent() -> None:
    """The request has the call, what has just ended, and customData."""
    story = answered_call(HTTPS, custom_data={"order": 7})
    webhook = story.commands_of(SendWebhook)[0]
    assert (webhook.request, webhook.url) == (REQUEST, HTTPS)
    assert json.loads(webhook.body) == {
        "callId": ID,
        "event": "start",
        "from": "+4799",
        "to": "+4711111111",
        "direction": "outbound",
        "accountId": "acme",
        "channelId": MAIN,
        "customData": {"order": 7},
    }
    assert story.state_as(AwaitingInstructions).deadline_ms == story.now + WEBHOOK_TIMEOUT_MS


def test_the_event_names_what_has_ended() -> None:
    """play, say, gather, dial, flow, reply: a server can tell its steps apart."""
    story = answered_call(say(action=HTTPS))
    story.deliver_media()
    story.take(PlaybackEnded(f"{ID}.p1"))
    assert json.loads(story.commands_of(SendWebhook)[0].body)["event"] == "say"


def test_the_response_runs() -> None:
    """The webhook's action runs next; its audio is prefetched."""
    story = answered_call(HTTPS)
    commands = story.take(ActionReceived(REQUEST, tree(say(action=say("two")))))
    assert commands[0] == PrefetchMedia((Speech("hello"), Speech("two")))
    assert isinstance(commands[1], FetchMedia)


def test_a_response_without_audio_prefetches_nothing() -> None:
    story = answered_call(HTTPS)
    assert story.take(ActionReceived(REQUEST, tree({"type": "hangup"}))) == (Hangup(MAIN, 16),)


def test_an_empty_response_ends_the_tree() -> None:
    """There is no next action: the call hangs up."""
    story = answered_call(HTTPS)
    assert story.take(ActionReceived(REQUEST, None)) == (Hangup(MAIN, 16),)
    assert story.call.reason == ""


def test_a_webhook_may_return_a_url() -> None:
    """The returned URL is requested in turn."""
    story = answered_call(HTTPS)
    story.take(ActionReceived(REQUEST, HTTPS + "2"))
    webhook = story.commands_of(SendWebhook)[-1]
    assert (webhook.url, json.loads(webhook.body)["event"]) == (HTTPS + "2", "reply")


def test_a_failing_webhook_without_a_fallback_hangs_up() -> None:
    """The fallback verb runs, or else the call hangs up; its reason has the code only."""
    story = answered_call(HTTPS)
    failed = ActionFailed(REQUEST, "invalid_action: type: " + "x" * 70_000)
    assert story.take(failed) == (Hangup(MAIN, 127),)
    assert story.call.reason == "action_failed:invalid_action"


def test_a_webhook_times_out() -> None:
    story = answered_call(HTTPS)
    assert story.pass_deadline() == (Hangup(MAIN, 127),)
    assert story.call.reason == "action_failed:timeout"
    story.hang_up()
    assert (story.call.status, story.call.ended_by) == ("failed", "system")
    assert story.call.cause == INTERWORKING


def test_a_later_webhook_fails() -> None:
    """The call has run a verb: it is completed, and the system ended it."""
    story = answered_call(say(action=HTTPS))
    story.deliver_media()
    story.take(PlaybackEnded(story.state_as(Playing).request))
    story.pass_deadline()
    story.hang_up()
    assert (story.call.status, story.call.ended_by) == ("completed", "system")
    assert (story.call.cause, story.call.reason) == (INTERWORKING, "action_failed:timeout")


def test_a_failing_webhook_in_a_flow_ends_the_call() -> None:
    """The rest of the flow does not run: the call hangs up."""
    story = answered_call({**FLOW, "action": say()})
    story.take(ActionReceived(REQUEST, HTTPS))
    story.take(ActionFailed(f"{ID}.r2", "timeout"))
    assert story.state == "ending"
    assert story.call.continuation == ()


def test_a_fallback_in_a_flow_continues_the_flow() -> None:
    """A fallback replaces the response: the rest of the flow runs after it."""
    gather = {"type": "gather", "data": {"fallback": {"type": "say", "data": {"text": "sorry"}}}}
    story = answered_call({**FLOW, "action": say("after")})
    story.take(ActionReceived(REQUEST, tree({**gather, "action": HTTPS})))
    story.press("#")
    story.take(ActionFailed(story.state_as(AwaitingInstructions).request, "status_500"))
    story.deliver_media(())
    assert story.commands_of(FetchMedia)[-1].sources == (Speech("after"),)


def test_a_late_response_is_ignored() -> None:
    """The response to an earlier request changes nothing."""
    story = answered_call(HTTPS)
    before = story.call
    for event in (ActionReceived("other", None), ActionFailed("other", "no"), LegRinging(MAIN)):
        assert story.take(event) == ()
    assert story.call is before


def test_a_response_after_the_hangup() -> None:
    """The main leg hangs up during a webhook: the call ends, the response runs nothing."""
    story = answered_call(HTTPS)
    story.hang_up()
    assert story.call.is_ended
    assert story.take(ActionReceived(REQUEST, tree(say()))) == ()


def test_recovery_repeats_the_webhook() -> None:
    """The outbox repeats it with the same idempotency key; the deadline restarts."""
    story = answered_call(HTTPS)
    assert story.take(Recovered(), 16_000) == ()
    assert story.state_as(AwaitingInstructions).deadline_ms == story.now + WEBHOOK_TIMEOUT_MS


def test_a_flow_is_loaded_and_run() -> None:
    """flow: a stored flow runs, then the nested action."""
    story = answered_call({**FLOW, "action": say("after")})
    assert story.commands_of(LoadFlow) == [LoadFlow(REQUEST, "menu")]
    assert story.state_as(AwaitingInstructions).deadline_ms == story.now + LOAD_TIMEOUT_MS
    story.take(ActionReceived(REQUEST, tree(say("within"))))
    story.deliver_media(())
    assert story.commands_of(FetchMedia)[-1].sources == (Speech("after"),)
    story.deliver_media(())
    assert story.state == "ending"


def test_a_dial_of_a_flow_is_a_flow() -> None:
    """Dial with flowId is the originate schema's `dial | flow`."""
    story = answered_call({"type": "dial", "data": {"flowId": "menu"}, "action": say("after")})
    story.take(ActionReceived(REQUEST, None))
    assert story.state == "playing"


def test_the_nesting_of_flows_is_limited() -> None:
    """A flow that runs itself ends the call."""
    again = tree({**FLOW, "action": say()})
    story = answered_call({**FLOW, "action": say()})
    for _ in range(MAX_FLOWS):
        story.take(ActionReceived(story.state_as(AwaitingInstructions).request, again))
    assert story.state == "ending"
    assert story.call.reason == "too_many_flows"


def test_the_number_of_verbs_is_limited() -> None:
    """An endless loop of webhooks ends the call."""
    story = answered_call(HTTPS)
    rounds = 0
    while story.state == "awaiting-instructions":
        story.take(ActionReceived(story.state_as(AwaitingInstructions).request, HTTPS))
        rounds += 1
    assert rounds == MAX_VERBS
    assert story.call.reason == "too_many_verbs"


def test_a_queue_may_loop_for_hours() -> None:
    """Verbs are counted for five minutes: a pause and a webhook every ten seconds go on."""
    story = answered_call(HTTPS)
    pause = tree({"type": "pause", "data": {"length": 10}, "action": HTTPS})
    for _ in range(MAX_VERBS):
        story.take(ActionReceived(story.state_as(AwaitingInstructions).request, pause), 200)
        story.pass_deadline()
    assert story.state == "awaiting-instructions"
    assert story.now - story.call.created_ms > 2 * 3_600_000
