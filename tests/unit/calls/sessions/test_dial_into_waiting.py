"""A party that was dialled in answers while the call awaits instructions: they are kept."""

import json

from engine.calls.model.call_states import AwaitingInstructions, Bridged
from engine.calls.model.causes import NORMAL
from engine.calls.model.events import LegEnded
from engine.calls.model.io_commands import LoadFlow, PrefetchMedia, SendWebhook
from engine.calls.model.io_results import ActionFailed, ActionReceived
from engine.calls.recovery.pbx_snapshot import PbxSnapshot
from engine.calls.recovery.reconcile import reconcile
from engine.calls.verbs.awaiting_instructions import WEBHOOK_TIMEOUT_MS
from tests.harness.calls.builders import HTTPS, Story, answered_call, say, tree
from tests.harness.calls.control import CAROL, dial_into


def awaiting_while_bridged() -> Story:
    """Return a call that awaits instructions while two parties talk."""
    story = answered_call(HTTPS)
    dial_into(story, state="answered")
    return story


def test_instructions_during_the_conversation() -> None:
    """They run afterwards; their audio is prefetched at once."""
    story = awaiting_while_bridged()
    leg = story.state_as(Bridged).leg
    commands = story.take(ActionReceived(story.commands_of(SendWebhook)[-1].request, tree(say())))
    assert [type(each) for each in commands] == [PrefetchMedia]
    assert story.state == "bridged"
    story.take(LegEnded(leg, NORMAL))
    assert story.state == "playing"


def test_instructions_after_the_conversation() -> None:
    """They are awaited with a new timeout, and not requested again."""
    story = awaiting_while_bridged()
    leg = story.state_as(Bridged).leg
    story.take(LegEnded(leg, NORMAL), 30_000)
    assert story.state_as(AwaitingInstructions).deadline_ms == story.now + WEBHOOK_TIMEOUT_MS
    assert len(story.commands_of(SendWebhook)) == 1
    story.take(ActionReceived(story.state_as(AwaitingInstructions).request, tree(say())))
    assert story.state == "playing"


def test_failed_instructions_during_the_conversation() -> None:
    """The call ends after it, for the same reason as without the conversation."""
    story = awaiting_while_bridged()
    leg = story.state_as(Bridged).leg
    story.take(ActionFailed(story.commands_of(SendWebhook)[-1].request, "status_500"))
    assert story.state == "bridged"
    story.take(LegEnded(leg, NORMAL))
    assert (story.state, story.call.reason) == ("ending", "action_failed:status_500")
    story.hang_up()
    assert story.call.status == "completed"


def test_the_main_party_hangs_up_after_failed_instructions() -> None:
    """The failure has not ended the call, so it is not the reason."""
    story = awaiting_while_bridged()
    leg = story.state_as(Bridged).leg
    story.take(ActionFailed(story.commands_of(SendWebhook)[-1].request, "status_500"))
    story.hang_up()
    story.take(LegEnded(leg, NORMAL))
    assert (story.call.ended_by, story.call.reason, story.call.cause) == ("callee", "", NORMAL)
    assert story.call.status == "completed"


def test_a_fallback_after_the_conversation() -> None:
    """A gather's fallback runs after the conversation."""
    gather = {"type": "gather", "data": {"maxDigits": 1, "fallback": say()}, "action": HTTPS}
    story = answered_call(gather)
    story.press("1")
    leg = dial_into(story, state="answered")
    story.take(ActionFailed(story.commands_of(SendWebhook)[-1].request, "status_500"))
    story.take(LegEnded(leg, NORMAL))
    assert story.state == "playing"


def test_the_webhook_after_the_conversation() -> None:
    """A URL among the instructions is called with the event of a dial."""
    story = awaiting_while_bridged()
    leg = story.state_as(Bridged).leg
    story.take(ActionReceived(story.commands_of(SendWebhook)[-1].request, HTTPS))
    story.take(LegEnded(leg, NORMAL), 3_000)
    body = json.loads(story.commands_of(SendWebhook)[-1].body)
    assert (body["event"], body["dial"]["number"]) == ("dial", CAROL)


def test_a_flow_that_is_loaded_during_the_conversation() -> None:
    """An engine that takes the call over loads it again."""
    story = answered_call({"type": "flow", "data": {"flowId": "f"}})
    [load] = story.commands_of(LoadFlow)
    dial_into(story, state="answered")
    snapshot = PbxSnapshot({leg.id: "Up" for leg in story.call.legs})
    redo, _ = reconcile(story.call, (load,), snapshot, story.now)
    assert redo == (load,)
