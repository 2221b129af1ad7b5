"""A dialled-in party answers while the call asks what to do: the answer is kept for afterwards."""

import json

from engine.calls.model.causes import NORMAL
from engine.calls.model.events import LegEnded
from engine.calls.model.io_commands import PrefetchMedia, SendWebhook
from engine.calls.model.io_results import ActionFailed, ActionReceived
from engine.calls.model.state import AwaitingInstructions, Bridged
from engine.calls.verbs.instructions import WEBHOOK_TIMEOUT_MS
from tests.unit.calls.harness.builders import HTTPS, Story, called, say, tree
from tests.unit.calls.harness.control import CAROL, dialled_into


def asking_while_talking() -> Story:
    """Make a call that asks what to do while two talk."""
    story = called(HTTPS)
    dialled_into(story, state="answered")
    return story


def test_an_answer_that_comes_during_the_conversation() -> None:
    """It is run afterwards; what it wants to have heard is fetched at once."""
    story = asking_while_talking()
    leg = story.state_as(Bridged).leg
    commands = story.take(ActionReceived(story.wanted(SendWebhook)[-1].request, tree(say())))
    assert [type(each) for each in commands] == [PrefetchMedia]
    assert story.state == "bridged"
    story.take(LegEnded(leg, NORMAL))
    assert story.state == "playing"


def test_an_answer_that_comes_after_the_conversation() -> None:
    """It is still waited for, once more as long as ever, and is not asked again."""
    story = asking_while_talking()
    leg = story.state_as(Bridged).leg
    story.take(LegEnded(leg, NORMAL), 30_000)
    assert story.state_as(AwaitingInstructions).deadline_ms == story.now + WEBHOOK_TIMEOUT_MS
    assert len(story.wanted(SendWebhook)) == 1
    story.take(ActionReceived(story.state_as(AwaitingInstructions).request, tree(say())))
    assert story.state == "playing"


def test_no_answer_during_the_conversation() -> None:
    """The call ends after it, for the reason it would have ended for before."""
    story = asking_while_talking()
    leg = story.state_as(Bridged).leg
    story.take(ActionFailed(story.wanted(SendWebhook)[-1].request, "status_500"))
    assert story.state == "bridged"
    story.take(LegEnded(leg, NORMAL))
    assert (story.state, story.call.reason) == ("ending", "action_failed:status_500")


def test_no_answer_but_a_fallback() -> None:
    """A gather's fallback runs after the conversation."""
    gather = {"type": "gather", "data": {"maxDigits": 1, "fallback": say()}, "action": HTTPS}
    story = called(gather)
    story.press("1")
    leg = dialled_into(story, state="answered")
    story.take(ActionFailed(story.wanted(SendWebhook)[-1].request, "status_500"))
    story.take(LegEnded(leg, NORMAL))
    assert story.state == "playing"


def test_what_is_asked_after_the_conversation() -> None:
    """An address that was answered is told that a dial has ended."""
    story = asking_while_talking()
    leg = story.state_as(Bridged).leg
    story.take(ActionReceived(story.wanted(SendWebhook)[-1].request, HTTPS))
    story.take(LegEnded(leg, NORMAL), 3_000)
    body = json.loads(story.wanted(SendWebhook)[-1].body)
    assert (body["event"], body["dial"]["number"]) == ("dial", CAROL)
