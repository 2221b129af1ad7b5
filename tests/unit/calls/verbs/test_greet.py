"""whisper, confirm and machineDetection on dial: who answers is greeted before it is connected."""

import json
from typing import Any

import pytest

from engine.calls.causes import NO_ANSWER, NORMAL, REJECTED
from engine.calls.commands import (
    AskWebhook,
    Bridge,
    DetectTalk,
    EndDetection,
    FetchMedia,
    Hangup,
    Play,
    StopPlayback,
    StopRinging,
)
from engine.calls.doing import Detecting, Dialing, Gathering, Greeting, Playing, Talking
from engine.calls.events import (
    DialRequested,
    DigitPressed,
    HoldRequested,
    LegAnswered,
    LegEnded,
    LegPlaced,
    MediaFetched,
    PlaybackEnded,
    Recovered,
    TalkEnded,
    TalkStarted,
)
from engine.calls.refusals import Refusal, refused
from engine.calls.seating import seats
from engine.calls.verbs.greet import LONGEST_MS
from tests.unit.calls.building import CLIPS, HTTPS, ID, MAIN, Story, dialing, say
from wire.media import Audio, Speech

BOB, EVE = "+4712345678", "+4787654321"
FIRST, SECOND = f"{ID}.l1", f"{ID}.l2"
WHISPER: dict[str, Any] = {"whisper": say("A call for sales.")}
CONFIRM: dict[str, Any] = {"confirm": {"text": "Press one."}}
DETECT: dict[str, Any] = {"machineDetection": True}


def greeting(*numbers: str, timeout: int = 20, **data: Any) -> Story:
    """Dial parties whose first has answered after 2 s, and is to be greeted."""
    asked = {"number": list(numbers or (BOB,)), **data}
    story = dialing(data=asked, timeout=timeout, action=HTTPS)
    for leg in story.doing(Dialing).legs:
        story.take(LegPlaced(leg))
    story.take(LegAnswered(FIRST), 2_000)
    return story


def greeted(story: Story, place: int = 0) -> Greeting:
    """Give a greeting that goes on."""
    return story.doing(Dialing).greetings[place]


def fetched(story: Story, place: int = 0) -> str:
    """Bring the audio that a greeting waits for; gives the playback."""
    doing = greeted(story, place).doing
    assert isinstance(doing, (Playing, Gathering))
    story.take(MediaFetched(doing.request, CLIPS))
    return doing.request


def pressed(story: Story, digit: str, leg: str = FIRST) -> Any:
    """Press a key on a dialled leg."""
    return story.take(DigitPressed(leg, digit, story.now + 100), 200)


def result(story: Story) -> dict[str, Any]:
    """Read how the dial ended, as its action webhook was told."""
    body: dict[str, Any] = json.loads(story.wanted(AskWebhook)[-1].body)
    found: dict[str, Any] = body["dial"]
    return found


def test_a_whisper_is_heard_by_the_called_party_alone() -> None:
    """The caller hears ringing meanwhile; when it has been heard, both are bridged."""
    story = greeting(**WHISPER)
    assert story.wanted(FetchMedia)[-1].sources == (Speech("A call for sales."),)
    playback = fetched(story)
    assert story.wanted(Play)[-1] == Play(FIRST, playback, CLIPS)
    assert seats(story.call)[MAIN].sound == "ringing"
    commands = story.take(PlaybackEnded(playback), 4_000)
    talking = story.doing(Talking)
    assert commands == (StopRinging(MAIN), Bridge(talking.bridge, (MAIN, FIRST)))
    assert talking.since_ms == story.now
    story.take(LegEnded(FIRST, NORMAL), 3_000)
    assert (result(story)["status"], result(story)["duration"]) == ("completed", 3)


def test_a_whisper_of_several_verbs() -> None:
    """play, say and gather follow one another; what is pressed is told, and asked of nobody."""
    gather = {"type": "gather", "data": {"maxDigits": 1}, "action": say("Thanks.")}
    story = greeting(whisper=say("Sales?", action=gather))
    story.take(PlaybackEnded(fetched(story)), 4_000)
    pressed(story, "7")
    assert (story.told[-1].event, story.told[-1].dtmf) == ("gathered", "7")
    assert story.told[-1].channel_id == FIRST
    story.take(PlaybackEnded(fetched(story)), 4_000)
    assert story.state == "Talking"
    assert story.wanted(AskWebhook) == []


def test_the_right_key_connects() -> None:
    """During the prompt or after it; the prompt stops before the bridge."""
    story = greeting(**CONFIRM)
    assert story.wanted(FetchMedia)[-1].sources == (Speech("Press one."),)
    playback = fetched(story)
    commands = pressed(story, "1")
    assert commands[0] == StopPlayback(playback)
    assert isinstance(commands[-1], Bridge)
    after = greeting(**CONFIRM)
    after.take(PlaybackEnded(fetched(after)), 4_000)
    pressed(after, "1")
    assert after.state == "Talking"


def test_a_key_and_a_prompt_of_ones_own() -> None:
    """confirm: digit, audioUrl, timeout; without a prompt the key is waited for at once."""
    story = greeting(confirm={"digit": "#", "audioUrl": HTTPS})
    assert story.wanted(FetchMedia)[-1].sources == (Audio(HTTPS),)
    fetched(story)
    pressed(story, "#")
    assert story.state == "Talking"
    silent = greeting(confirm={"timeout": 3_000})
    silent.due()
    assert result(silent)["status"] == "failed"
    assert silent.now - story.now < 5_000


@pytest.mark.parametrize("key", ["2", ""], ids=["wrong", "none"])
def test_who_does_not_confirm_is_refused(key: str) -> None:
    """A wrong key, or none in time: hung up with cause 21, and the action is told."""
    story = greeting(**CONFIRM)
    story.take(PlaybackEnded(fetched(story)), 4_000)
    commands = pressed(story, key) if key else story.due()
    assert Hangup(FIRST, REJECTED) in commands
    assert (result(story)["status"], result(story)["cause"]) == ("failed", REJECTED)
    assert story.state == "Asking"
    story.take(LegEnded(FIRST, REJECTED), 100)
    assert story.told[-1].leg_status == "completed"


def test_the_others_ring_on() -> None:
    """A second party answers while the first is greeted: the first to confirm wins."""
    story = greeting(BOB, EVE, **CONFIRM)
    story.take(LegAnswered(SECOND), 500)
    fetched(story, 0)
    fetched(story, 1)
    assert Hangup(FIRST, NORMAL) in pressed(story, "1", SECOND)
    assert story.doing(Talking).leg == SECOND
    assert story.doing(Talking).number == EVE


def test_one_refused_and_the_other_goes_on() -> None:
    """The dial goes on with those who ring, until its own time is up."""
    story = greeting(BOB, EVE, **CONFIRM)
    fetched(story)
    pressed(story, "2")
    assert story.doing(Dialing).legs == (SECOND,)
    assert Hangup(SECOND, NO_ANSWER) in story.due()
    assert result(story)["status"] == "no-answer"


def test_the_ring_s_time_does_not_cut_a_greeting() -> None:
    """Who still rings is given up then; who is greeted has the time of the greeting."""
    story = greeting(BOB, EVE, timeout=3, **WHISPER)
    fetched(story)
    assert story.due() == (Hangup(SECOND, NO_ANSWER),)
    assert story.doing(Dialing).legs == (FIRST,)
    story.take(LegEnded(SECOND, NO_ANSWER), 50)
    story.take(PlaybackEnded(fetched_playback(story)), 4_000)
    assert story.doing(Talking).leg == FIRST


def fetched_playback(story: Story) -> str:
    """Name the playback of the one greeting."""
    doing = greeted(story).doing
    assert isinstance(doing, Playing)
    return doing.request


def test_a_hangup_while_greeted() -> None:
    """The called party: an ordinary end of its leg; the caller: of the call."""
    story = greeting(**CONFIRM)
    story.take(LegEnded(FIRST, NORMAL), 700)
    assert result(story)["cause"] == NORMAL
    caller = greeting(**CONFIRM)
    assert Hangup(FIRST, NORMAL) in caller.hang_up()
    caller.take(LegEnded(FIRST, NORMAL))
    assert caller.call.is_over


def test_a_stage_has_an_end() -> None:
    """A whisper of hours is cut, a confirmation with such a prompt refused."""
    story = greeting(**WHISPER)
    doing = greeted(story).doing
    assert isinstance(doing, Playing)
    story.take(MediaFetched(doing.request, CLIPS * 100))
    assert StopPlayback(doing.request) in story.due()
    assert story.state == "Talking"
    silent = greeting(**CONFIRM)
    prompt = greeted(silent).doing
    assert isinstance(prompt, Gathering)
    silent.take(MediaFetched(prompt.request, CLIPS * 100))
    commands = silent.due()
    assert commands[0] == StopPlayback(prompt.request)
    assert Hangup(FIRST, REJECTED) in commands
    assert silent.now == story.now


def test_detection_before_whisper_before_confirmation() -> None:
    """One after another, each told to the PBX as it comes."""
    story = greeting(**DETECT, **WHISPER, **CONFIRM)
    assert story.wanted(DetectTalk) == [DetectTalk(FIRST, 200)]
    assert isinstance(greeted(story).doing, Detecting)
    story.take(TalkStarted(FIRST), 300)
    story.take(TalkEnded(FIRST, 400), 600)
    assert EndDetection(FIRST, "human") in story.due()
    assert greeted(story).stage == "whispering"
    story.take(PlaybackEnded(fetched(story)), 4_000)
    assert greeted(story).stage == "confirming"
    fetched(story)
    pressed(story, "1")
    assert story.doing(Talking).answered_by == "human"
    story.take(LegEnded(FIRST, NORMAL), 1_000)
    assert result(story)["answeredBy"] == "human"
    assert story.call.answered_by is None


def test_a_machine_is_connected_or_refused() -> None:
    """onMachine: continue, the default, or hangup, which goes on with the others."""
    story = greeting(**DETECT)
    story.due()
    assert story.doing(Talking).answered_by == "machine"
    [told] = [each for each in story.told if each.event == "machine-detection"]
    assert (told.channel_id, told.answered_by) == (FIRST, "machine")
    refusing = greeting(BOB, EVE, machineDetection={"onMachine": "hangup"})
    assert Hangup(FIRST, REJECTED) in refusing.due()
    assert refusing.doing(Dialing).legs == (SECOND,)
    refusing.take(LegEnded(SECOND, NO_ANSWER), 100)
    assert result(refusing)["answeredBy"] == "machine"


def test_detection_that_is_off() -> None:
    """Enable false is as if it were not there."""
    story = greeting(machineDetection={"enable": False})
    assert story.state == "Talking"
    assert "answeredBy" not in json.dumps([each.event for each in story.told])


def test_a_party_that_is_called_in_is_greeted_too() -> None:
    """It is one of those who are dialled, and has its own time to ring."""
    story = greeting(timeout=3, **CONFIRM)
    fetched(story)
    story.take(DialRequested(EVE, 30), 5_000)
    assert story.doing(Dialing).deadline_ms == story.now + 30_000
    called_in = story.doing(Dialing).legs[-1]
    story.take(LegPlaced(called_in), 100)
    story.take(LegAnswered(called_in), 1_000)
    assert [each.leg for each in story.doing(Dialing).greetings] == [FIRST, called_in]


def test_who_is_greeted_can_t_be_held() -> None:
    """There is no conversation yet to be held in; the caller can be."""
    story = greeting(**WHISPER)
    refusal = refused(story.call, HoldRequested(FIRST, True))
    assert isinstance(refusal, Refusal)
    assert refusal.code == "not_connected"
    assert refused(story.call, HoldRequested(MAIN, True)) is None


def test_what_concerns_nobody_changes_nothing() -> None:
    """Keys of others, an answer told twice, an audio of another: the very same call."""
    story = greeting(BOB, EVE, **CONFIRM)
    fetched(story)
    before = story.call
    pressed(story, "1", MAIN)
    pressed(story, "1", SECOND)
    story.take(LegAnswered(FIRST))
    story.take(MediaFetched("other", CLIPS))
    assert story.call is before


def test_an_outage_is_not_their_silence() -> None:
    """The key's time is given again, a stage's too; detection is over."""
    story = greeting(**CONFIRM)
    story.take(PlaybackEnded(fetched(story)), 4_000)
    story.take(Recovered(), 60_000)
    assert greeted(story).doing.deadline_ms == story.now + 10_120
    assert greeted(story).limit_ms == story.now + LONGEST_MS
    detecting = greeting(**DETECT, **CONFIRM)
    detecting.take(Recovered(), 60_000)
    assert greeted(detecting).stage == "confirming"
    assert detecting.told[-1].answered_by == "unknown"
