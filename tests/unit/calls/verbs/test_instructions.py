"""Asking an address or a stored flow what to do next (design section 7, Verbs)."""

import json

from engine.calls.dispatch import MAX_FLOWS, MAX_VERBS
from engine.calls.model.commands import Hangup
from engine.calls.model.events import LegRinging, PlaybackEnded, Recovered
from engine.calls.model.io_commands import FetchMedia, LoadFlow, PrefetchMedia, SendWebhook
from engine.calls.model.io_results import ActionFailed, ActionReceived
from engine.calls.model.state import AwaitingInstructions
from engine.calls.verbs.flow import LOAD_TIMEOUT_MS
from engine.calls.verbs.instructions import MAX_REASON_CHARS, WEBHOOK_TIMEOUT_MS
from tests.unit.calls.harness.builders import HTTPS, ID, MAIN, Story, answered_call, say, tree
from wire.media import Speech

REQUEST = f"{ID}.r1"
FLOW = {"type": "flow", "data": {"flowId": "menu"}}


def test_an_address_is_asked() -> None:
    """The URL is asked by POST with the call, what has just ended, and customData."""
    story = answered_call(HTTPS, custom_data={"order": 7})
    asked = story.commands_of(SendWebhook)[0]
    assert (asked.request, asked.url) == (REQUEST, HTTPS)
    assert json.loads(asked.body) == {
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


def test_the_event_names_what_has_just_ended() -> None:
    """play, say, gather, dial, flow, reply: so a server can tell its steps apart."""
    story = answered_call(say(action=HTTPS))
    story.deliver_media()
    story.take(PlaybackEnded(f"{ID}.p1"))
    assert json.loads(story.commands_of(SendWebhook)[0].body)["event"] == "say"


def test_the_answer_runs() -> None:
    """The webhook's action is executed next; its audio is got ready."""
    story = answered_call(HTTPS)
    commands = story.take(ActionReceived(REQUEST, tree(say(action=say("two")))))
    assert commands[0] == PrefetchMedia((Speech("hello"), Speech("two")))
    assert isinstance(commands[1], FetchMedia)


def test_an_answer_without_audio_prefetches_nothing() -> None:
    """Nothing is prefetched for a tree without audio."""
    story = answered_call(HTTPS)
    assert story.take(ActionReceived(REQUEST, tree({"type": "hangup"}))) == (Hangup(MAIN, 16),)


def test_an_empty_answer_ends_the_tree() -> None:
    """Nothing more to do: the call hangs up."""
    story = answered_call(HTTPS)
    assert story.take(ActionReceived(REQUEST, None)) == (Hangup(MAIN, 16),)
    assert story.call.reason == ""


def test_an_address_may_answer_with_an_address() -> None:
    """An answer that is an address is asked in its turn."""
    story = answered_call(HTTPS)
    story.take(ActionReceived(REQUEST, HTTPS + "2"))
    asked = story.commands_of(SendWebhook)[-1]
    assert (asked.url, json.loads(asked.body)["event"]) == (HTTPS + "2", "reply")


def test_a_failing_webhook_without_a_fallback_hangs_up() -> None:
    """Then the fallback verb, else hang up; the reason is told, cut to a decent length."""
    story = answered_call(HTTPS)
    assert story.take(ActionFailed(REQUEST, "status_500 " + "x" * 70_000)) == (Hangup(MAIN, 16),)
    assert story.call.reason.startswith("action_failed:status_500")
    assert len(story.call.reason) == MAX_REASON_CHARS + len("action_failed:")


def test_a_webhook_that_never_answers() -> None:
    """A state that waits has a deadline."""
    story = answered_call(HTTPS)
    assert story.pass_deadline() == (Hangup(MAIN, 16),)
    assert story.call.reason == "action_failed:timeout"


def test_a_failing_webhook_in_a_flow_ends_the_call() -> None:
    """What should have come after the flow does not run: the call hangs up."""
    story = answered_call({**FLOW, "action": say()})
    story.take(ActionReceived(REQUEST, HTTPS))
    story.take(ActionFailed(f"{ID}.r2", "timeout"))
    assert story.state == "ending"
    assert story.call.continuation == ()


def test_a_fallback_in_a_flow_goes_on_with_what_comes_after() -> None:
    """A fallback takes the place of the answer: after it, what follows the flow runs."""
    gather = {"type": "gather", "data": {"fallback": {"type": "say", "data": {"text": "sorry"}}}}
    story = answered_call({**FLOW, "action": say("after")})
    story.take(ActionReceived(REQUEST, tree({**gather, "action": HTTPS})))
    story.press("#")
    story.take(ActionFailed(story.state_as(AwaitingInstructions).request, "status_500"))
    story.deliver_media(())
    assert story.commands_of(FetchMedia)[-1].sources == (Speech("after"),)


def test_a_late_answer_is_ignored() -> None:
    """An answer to an earlier question, or another event, moves nothing."""
    story = answered_call(HTTPS)
    before = story.call
    for event in (ActionReceived("other", None), ActionFailed("other", "no"), LegRinging(MAIN)):
        assert story.take(event) == ()
    assert story.call is before


def test_an_answer_after_the_caller_has_gone() -> None:
    """The main leg hangs up while a webhook is out: the call is over, the answer runs nothing."""
    story = answered_call(HTTPS)
    story.hang_up()
    assert story.call.is_ended
    assert story.take(ActionReceived(REQUEST, tree(say()))) == ()


def test_a_recovery_asks_with_the_same_key_and_waits_again() -> None:
    """The outbox asks again (same idempotency key); the wait begins anew."""
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


def test_flows_nest_so_deep_and_no_deeper() -> None:
    """A flow that runs itself, with more to come after it, ends loudly."""
    again = tree({**FLOW, "action": say()})
    story = answered_call({**FLOW, "action": say()})
    for _ in range(MAX_FLOWS):
        story.take(ActionReceived(story.state_as(AwaitingInstructions).request, again))
    assert story.state == "ending"
    assert story.call.reason == "too_many_flows"


def test_a_webhook_that_answers_for_ever() -> None:
    """The number of verbs is limited: a loop ends loudly."""
    story = answered_call(HTTPS)
    rounds = 0
    while story.state == "awaiting-instructions":
        story.take(ActionReceived(story.state_as(AwaitingInstructions).request, HTTPS))
        rounds += 1
    assert rounds == MAX_VERBS
    assert story.call.reason == "too_many_verbs"


def test_stories_are_alike() -> None:
    """The same events give the same call and commands: a step is a function."""

    def told() -> Story:
        story = answered_call(HTTPS)
        story.take(ActionReceived(REQUEST, tree(say())))
        return story

    assert told().call == told().call
    assert told().commands == told().commands
