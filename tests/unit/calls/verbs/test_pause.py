"""pause: a silence of a given length, then the nested action."""

import json
from typing import Any

import pytest

from engine.calls.model.call_states import Pausing
from engine.calls.model.causes import NORMAL
from engine.calls.model.commands import Hangup, StartHoldMusic, StopHoldMusic
from engine.calls.model.events import DigitPressed, LegEnded, PlaybackEnded, Recovered
from engine.calls.model.io_commands import FetchMedia, SendWebhook
from tests.harness.calls.builders import CLIPS, HTTPS, ID, MAIN, NOW, Story, answered_call, say
from tests.harness.calls.control import dial_into, hold, unhold
from tests.harness.calls.flow_calls import spoken_text
from tests.harness.calls.flows import outline, pass_deadline, run_flow

PAUSE = {"type": "pause", "data": {"length": 2.5}}
LENGTH_MS = 2_500


def pausing(**more: Any) -> Story:
    return answered_call({**PAUSE, "action": say(), **more})


def test_the_length() -> None:
    """The nested action runs when the time has passed; until then there is no command."""
    story = pausing()
    began = story.now
    assert story.state == "pausing"
    assert not story.commands_of(FetchMedia)
    assert [type(each) for each in story.pass_deadline()] == [FetchMedia]
    assert story.now == began + LENGTH_MS


def test_a_timeout_cuts_it_short() -> None:
    story = pausing(timeout=1)
    began = story.now
    story.pass_deadline()
    assert (story.state, story.now) == ("playing", began + 1_000)


def test_the_webhook_after_it() -> None:
    """A URL is called with the event `pause`."""
    story = answered_call({**PAUSE, "action": HTTPS})
    story.pass_deadline()
    assert json.loads(story.commands_of(SendWebhook)[0].body)["event"] == "pause"


def test_the_call_hangs_up_after_the_last_action() -> None:
    story = answered_call(PAUSE)
    assert story.pass_deadline() == (Hangup(MAIN, NORMAL),)


@pytest.mark.parametrize("event", [DigitPressed(MAIN, "1", 0), PlaybackEnded("other"), Recovered()])
def test_other_events_are_ignored(event: DigitPressed) -> None:
    """Digits and a recovery change neither the state nor its deadline."""
    story = pausing()
    before = story.call.state
    assert story.take(event, 1_000) == ()
    assert story.call.state == before


def test_an_outage_counts_as_silence() -> None:
    """The next action runs at once when the time passed during the outage."""
    story = pausing()
    story.take(Recovered(), 60_000)
    assert [type(each) for each in story.pass_deadline()] == [FetchMedia]
    assert story.now == NOW + 5_000 + 60_000


def test_a_hold_suspends_it() -> None:
    """The leg hears hold music, and then the rest of the silence."""
    story = pausing()
    assert story.take(hold(MAIN), 1_000) == (StartHoldMusic(MAIN),)
    assert story.state_as(Pausing).deadline_ms == story.call.must_end_ms
    assert story.take(unhold(MAIN), 60_000) == (StopHoldMusic(MAIN),)
    assert story.state_as(Pausing).deadline_ms == story.now + LENGTH_MS - 1_000
    story.take(hold(MAIN), 1_000)
    story.take(unhold(MAIN), 60_000)
    assert story.state_as(Pausing).deadline_ms == story.now + LENGTH_MS - 2_000


def test_started_on_hold() -> None:
    """The whole silence follows the hold."""
    story = answered_call(say(action={**PAUSE, "action": say()}))
    story.take(hold(MAIN), 500)
    story.deliver_media(())
    assert story.state_as(Pausing).suspended
    story.take(unhold(MAIN), 10_000)
    assert story.state_as(Pausing).deadline_ms == story.now + LENGTH_MS


def test_a_conversation_interrupts_it() -> None:
    """It restarts with its whole length, as a prompt does."""
    story = pausing()
    story.now += 2_000
    leg = dial_into(story, state="answered")
    assert story.state == "bridged"
    story.take(LegEnded(leg, NORMAL), 30_000)
    assert story.state_as(Pausing).deadline_ms == story.now + LENGTH_MS


def test_a_hangup_ends_it() -> None:
    story = pausing()
    story.hang_up()
    assert story.state == "ended"


def test_a_node() -> None:
    """A flow pauses, then continues at the next node."""
    flow = outline("wait", wait={**PAUSE, "next": "hi"}, hi=say("hi"))
    story = run_flow(flow)
    assert story.state == "pausing"
    assert spoken_text(pass_deadline(story, flow)) == "hi"


def test_pauses_around_a_playback() -> None:
    play = {"type": "play", "data": {"audioUrl": HTTPS}, "action": PAUSE}
    story = answered_call({**PAUSE, "action": play})
    story.pass_deadline()
    story.deliver_media(CLIPS)
    story.take(PlaybackEnded(f"{ID}.p1"), 4_000)
    assert story.state == "pausing"
