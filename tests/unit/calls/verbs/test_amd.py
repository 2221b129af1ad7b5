"""machineDetection on originate: the main leg is listened to before the first verb."""

import json
from typing import Any

from msgspec.structs import replace

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
from engine.calls.model.requests import HangupRequested
from engine.calls.model.state import AwaitingInstructions, Detecting, Playing, Starting
from tests.unit.calls.harness.builders import HTTPS, MAIN, NOW, Story, outbound, say, tree
from wire.answer_detection import Detection
from wire.media import Speech
from wire.verbs import Verb


def answered(action: Any, on_machine: Verb | str = "continue") -> Story:
    """Make a call with detection that has just been answered."""
    call = outbound(action)
    starting = Starting(tree(action), NOW + 30_000, Detection(), on_machine)
    story = Story(replace(call, state=starting))
    story.take(CallOpened())
    story.take(LegCreated(MAIN))
    assert story.take(LegAnswered(MAIN), 5_000) == (StartTalkDetection(MAIN, 200),)
    return story


def speak(story: Story, length_ms: int, after_ms: int = 300) -> None:
    """Let the main leg speak, and let its silence be told."""
    story.take(TalkStarted(MAIN), after_ms)
    story.take(TalkEnded(MAIN, length_ms), length_ms + 200)


def test_a_person_is_told_and_the_tree_runs() -> None:
    """A short word and a silence: human, told in an event; then the action runs."""
    story = answered(say())
    speak(story, 400)
    assert story.state_as(Detecting).deadline_ms == story.now + 600
    assert StopTalkDetection(MAIN, "human") in story.pass_deadline()
    assert story.state == "playing"
    assert story.call.answered_by == "human"
    [told] = [each for each in story.emitted if each.event == "machine-detection"]
    assert (told.answered_by, told.channel_id) == ("human", MAIN)
    story.hang_up()
    assert story.emitted[-1].answered_by == "human"


def test_a_long_greeting_is_a_machine_s() -> None:
    """Continue, the default: the tree runs all the same, and its webhook is told."""
    story = answered(HTTPS)
    story.take(TalkStarted(MAIN), 300)
    story.pass_deadline()
    assert story.now == NOW + 5_000 + 300 + 1_500 + 200
    assert story.state == "awaiting-instructions"
    body = json.loads(story.commands_of(SendWebhook)[-1].body)
    assert (body["event"], body["answeredBy"]) == ("start", "machine")


def test_silence_is_a_machine_s() -> None:
    """Nothing for initialSilence: as AMD has it, a machine; keys change nothing."""
    story = answered(say())
    story.take(DigitPressed(MAIN, "1", story.now), 100)
    story.pass_deadline()
    assert (story.now, story.call.answered_by) == (NOW + 7_500, "machine")


def test_a_machine_is_hung_up() -> None:
    """OnMachine hangup: the call ends with the reason `machine`; a person is talked to."""
    story = answered(say(), "hangup")
    assert Hangup(MAIN, 16) in story.pass_deadline()
    story.hang_up()
    assert story.emitted[-1].reason == "machine"
    assert story.status == "completed"
    person = answered(say(), "hangup")
    speak(person, 400)
    person.pass_deadline()
    assert person.state_as(Playing).verb == tree(say())


def test_a_machine_runs_an_action_of_its_own() -> None:
    """OnMachine is an action: it runs instead, its audio is got ready; an address is asked."""
    message = tree(say("Call us back."))
    assert not isinstance(message, str)
    story = answered(say(), message)
    assert story.commands_of(PrefetchMedia) == [
        PrefetchMedia((Speech("hello"), Speech("Call us back.")))
    ]
    story.pass_deadline()
    assert story.state_as(Playing).verb == message
    asked = answered(say(), HTTPS)
    asked.pass_deadline()
    assert asked.state_as(AwaitingInstructions)
    assert asked.commands_of(SendWebhook)[-1].url == HTTPS


def test_no_time_left_is_unknown() -> None:
    """A word too late to be judged: unknown, and the tree runs."""
    story = answered(say(), "hangup")
    story.take(TalkStarted(MAIN), 2_400)
    story.pass_deadline()
    assert (story.now, story.call.answered_by) == (NOW + 9_000, "unknown")
    assert story.state == "playing"


def test_a_crash_makes_it_unknown() -> None:
    """What was said while nobody listened is not known, and nobody is asked to wait again."""
    story = answered(say(), "hangup")
    story.take(Recovered(), 60_000)
    assert story.call.answered_by == "unknown"
    assert story.state == "playing"


def test_others_sounds_are_nothing() -> None:
    """Only the main leg is judged; after the verdict its sounds are nothing either."""
    story = answered(say())
    before = story.call
    story.take(TalkStarted("other"), 100)
    story.take(TalkEnded("other", 3_000), 100)
    assert story.call is before
    story.pass_deadline()
    after = story.call
    story.take(TalkEnded(MAIN, 3_000), 100)
    assert story.call is after


def test_the_end_while_listening() -> None:
    """A hangup, by whoever, ends it at once."""
    story = answered(say())
    assert Hangup(MAIN, 16) in story.take(HangupRequested("api"))
    gone = answered(say())
    gone.hang_up()
    assert gone.call.is_ended
    assert gone.call.answered_by is None
