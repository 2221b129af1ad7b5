"""machineDetection on originate: answer detection runs before the first verb."""

import json
from typing import Any

from msgspec.structs import replace

from engine.calls.model.call_states import AwaitingInstructions, Detecting, Playing, Starting
from engine.calls.model.commands import Hangup, StartTalkDetection, StopTalkDetection
from engine.calls.model.events import (
    CallOpened,
    DigitPressed,
    LegAnswered,
    LegCreated,
    Recovered,
    TalkEnded,
    TalkStarted,
)
from engine.calls.model.io_commands import PrefetchMedia, SendWebhook
from engine.calls.model.io_results import ActionFailed
from engine.calls.model.requests import HangupRequested
from tests.harness.calls.builders import HTTPS, MAIN, NOW, Story, outbound, say, tree
from wire.answer_detection import Detection
from wire.media import Speech
from wire.verbs import Verb


def answered_with_detection(action: Any, on_machine: Verb | str = "continue") -> Story:
    """Return a call with detection that has just been answered."""
    call = outbound(action)
    starting = Starting(tree(action), NOW + 30_000, Detection(), on_machine)
    story = Story(replace(call, state=starting))
    story.take(CallOpened())
    story.take(LegCreated(MAIN))
    assert story.take(LegAnswered(MAIN), 5_000) == (StartTalkDetection(MAIN, 200),)
    return story


def speak(story: Story, length_ms: int, after_ms: int = 300) -> None:
    """Let the main leg make a sound and fall silent."""
    story.take(TalkStarted(MAIN), after_ms)
    story.take(TalkEnded(MAIN, length_ms), length_ms + 200)


def test_a_person_is_reported_and_the_tree_runs() -> None:
    """A short word and a silence: human, reported in an event; then the action runs."""
    story = answered_with_detection(say())
    speak(story, 400)
    assert story.state_as(Detecting).deadline_ms == story.now + 600
    assert StopTalkDetection(MAIN, "human") in story.pass_deadline()
    assert story.state == "playing"
    assert story.call.answered_by == "human"
    [event] = [each for each in story.emitted if each.event == "machine-detection"]
    assert (event.answered_by, event.channel_id) == ("human", MAIN)
    story.hang_up()
    assert story.emitted[-1].answered_by == "human"


def test_a_long_greeting_is_a_machine() -> None:
    """Continue is the default: the tree runs, and its webhook gets the result."""
    story = answered_with_detection(HTTPS)
    story.take(TalkStarted(MAIN), 300)
    story.pass_deadline()
    assert story.now == NOW + 5_000 + 300 + 1_500 + 200
    assert story.state == "awaiting-instructions"
    body = json.loads(story.commands_of(SendWebhook)[-1].body)
    assert (body["event"], body["answeredBy"]) == ("start", "machine")


def test_silence_is_a_machine() -> None:
    """Silence for initialSilence is a machine, as in AMD(); digits change nothing."""
    story = answered_with_detection(say())
    story.take(DigitPressed(MAIN, "1", story.now), 100)
    story.pass_deadline()
    assert (story.now, story.call.answered_by) == (NOW + 7_500, "machine")


def test_a_machine_is_hung_up() -> None:
    """OnMachine hangup: a machine ends the call with the reason `machine`; a person does not."""
    story = answered_with_detection(say(), "hangup")
    assert Hangup(MAIN, 16) in story.pass_deadline()
    story.hang_up()
    assert story.emitted[-1].reason == "machine"
    assert story.status == "completed"
    person = answered_with_detection(say(), "hangup")
    speak(person, 400)
    person.pass_deadline()
    assert person.state_as(Playing).verb == tree(say())


def test_a_machine_runs_its_own_action() -> None:
    """OnMachine is an action: it runs instead; its audio is prefetched, a URL is requested."""
    message = tree(say("Call us back."))
    assert not isinstance(message, str)
    story = answered_with_detection(say(), message)
    assert story.commands_of(PrefetchMedia) == [
        PrefetchMedia((Speech("hello"), Speech("Call us back.")))
    ]
    story.pass_deadline()
    assert story.state_as(Playing).verb == message
    machine = answered_with_detection(say(), HTTPS)
    machine.pass_deadline()
    assert machine.state_as(AwaitingInstructions)
    assert machine.commands_of(SendWebhook)[-1].url == HTTPS


def test_a_webhook_that_fails_after_the_detection() -> None:
    """The fallback of the call runs, as without a detection."""
    call, fallback = outbound(HTTPS), tree(say("Goodbye."))
    assert not isinstance(fallback, str)
    starting = Starting(tree(HTTPS), NOW + 30_000, Detection(), fallback=fallback)
    story = Story(replace(call, state=starting))
    for event in (CallOpened(), LegCreated(MAIN), LegAnswered(MAIN)):
        story.take(event)
    speak(story, 400)
    story.pass_deadline()
    story.take(ActionFailed(story.state_as(AwaitingInstructions).request, "status_500"), 10)
    assert story.state_as(Playing).verb == fallback


def test_no_time_left_is_unknown() -> None:
    """A word too late to be classified: unknown, and the tree runs."""
    story = answered_with_detection(say(), "hangup")
    story.take(TalkStarted(MAIN), 2_400)
    story.pass_deadline()
    assert (story.now, story.call.answered_by) == (NOW + 9_000, "unknown")
    assert story.state == "playing"


def test_a_crash_makes_it_unknown() -> None:
    """Sounds during an outage are unknown, and the wait is not repeated."""
    story = answered_with_detection(say(), "hangup")
    story.take(Recovered(), 60_000)
    assert story.call.answered_by == "unknown"
    assert story.state == "playing"


def test_other_sounds_are_ignored() -> None:
    """Only the main leg is classified, and only until there is a result."""
    story = answered_with_detection(say())
    before = story.call
    story.take(TalkStarted("other"), 100)
    story.take(TalkEnded("other", 3_000), 100)
    assert story.call is before
    story.pass_deadline()
    after = story.call
    story.take(TalkEnded(MAIN, 3_000), 100)
    assert story.call is after


def test_a_hangup_during_detection() -> None:
    """Any hangup ends the call at once."""
    story = answered_with_detection(say())
    assert Hangup(MAIN, 16) in story.take(HangupRequested("api"))
    ended = answered_with_detection(say())
    ended.hang_up()
    assert ended.call.is_ended
    assert ended.call.answered_by is None
