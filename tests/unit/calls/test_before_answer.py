"""Inbound calls with `answer: false`, before the answer."""

from typing import Any

import pytest

from engine.calls.model.call_states import Dialing
from engine.calls.model.causes import BUSY, NO_ANSWER, NORMAL, REJECTED
from engine.calls.model.commands import (
    AddToBridge,
    Answer,
    DestroyBridge,
    Hangup,
    Originate,
    RemoveFromBridge,
    StartRecording,
    StartRinging,
    StopRinging,
)
from engine.calls.model.events import (
    CallOpened,
    DeadlinePassed,
    LegAnswered,
    LegCreated,
    LegEnded,
)
from engine.calls.model.io_results import ActionReceived
from engine.calls.model.requests import DialRequested
from engine.calls.recovery.pbx_snapshot import PbxSnapshot
from engine.calls.recovery.reconcile import reconcile
from tests.harness.calls.builders import (
    CHANNEL,
    HTTPS,
    ID,
    Story,
    inbound,
    say,
    tree,
)
from tests.harness.calls.dials import BOB, EVE

LEG = f"{ID}.l0"
DIAL = {"type": "dial", "data": {"number": BOB}}
GATHER = {"type": "gather", "data": {}}


def ringing_call(action: Any, **fields: Any) -> Story:
    """Return a call that has been opened."""
    story = Story(inbound(action, answer_deferred=True, **fields))
    story.take(CallOpened())
    return story


@pytest.mark.parametrize(
    "verb", [say(), GATHER, {"type": "record", "data": {}}, {**DIAL, "moh": {"enable": True}}]
)
def test_a_verb_with_media_answers_first(verb: dict[str, Any]) -> None:
    """The verb starts with the answer; a tree that begins with it never rings."""
    story = ringing_call(verb)
    kinds = [each for each in story.commands if isinstance(each, (StartRinging, Answer))]
    assert kinds == [Answer(CHANNEL)]
    assert [each.event for each in story.emitted] == ["initiated"]
    assert (story.status, story.state, story.call.answered_ms) == ("initiated", "starting", 0)
    assert not story.call.answer_deferred
    story.take(LegAnswered(CHANNEL))
    assert (story.status, story.state == "starting") == ("in-progress", False)
    assert story.commands_of(Answer) == [Answer(CHANNEL)]


def test_a_dial_answers_when_the_called_party_does() -> None:
    """The caller is answered before it is bridged; then the call is recorded as usual."""
    story = ringing_call(DIAL)
    assert (story.commands_of(StartRinging), story.commands_of(Answer)) == (
        [StartRinging(CHANNEL)],
        [],
    )
    assert (story.status, story.emitted[-1].event) == ("ringing", "ringing")
    story.take(LegCreated(LEG))
    connected = AddToBridge(f"{ID}.b1", (CHANNEL, LEG))
    commands = story.take(LegAnswered(LEG), 5_000)
    assert commands == (Answer(CHANNEL), StopRinging(CHANNEL), connected)
    assert story.call.answered_ms == 0
    assert story.take(LegAnswered(CHANNEL), 20) == ()
    assert (story.status, story.call.answered_ms) == ("in-progress", story.now)
    story.take(LegEnded(LEG, NORMAL), 3_000)
    story.hang_up()
    assert story.status == "completed"
    assert story.commands_of(StartRecording) == []


def test_talk_begins_when_both_are_answered() -> None:
    """Until then the called party is bridged to a caller who still rings."""
    story = ringing_call(DIAL)
    story.take(LegCreated(LEG))
    story.take(LegAnswered(LEG), 5_000)
    story.take(LegAnswered(CHANNEL), 900)
    story.take(LegEnded(LEG, NORMAL), 3_000)
    story.hang_up()
    record = story.emitted[-1].record
    assert record is not None
    assert (record.talk_ms, [each.talk_ms for each in record.legs]) == (3_000, [3_000, 3_000])


@pytest.mark.parametrize(
    ("cause", "status"), [(BUSY, "busy"), (NO_ANSWER, "no-answer"), (REJECTED, "failed")]
)
def test_a_failed_dial_rejects_the_caller_with_its_cause(cause: int, status: str) -> None:
    """The tree ends after it: the caller was never answered, and pays nothing."""
    story = ringing_call(DIAL)
    story.take(LegCreated(LEG))
    assert story.take(LegEnded(LEG, cause), 5_000) == (Hangup(CHANNEL, cause),)
    story.hang_up()
    completed = story.emitted[-1]
    assert (completed.event, completed.call_status, completed.duration) == ("completed", status, 0)
    assert (completed.ended_by, completed.hangup_cause) == ("action", cause)


@pytest.mark.parametrize(
    ("data", "cause"),
    [({}, REJECTED), ({"reason": "rejected"}, REJECTED), ({"reason": "busy"}, BUSY)],
)
def test_a_hangup_rejects_the_caller(data: dict[str, Any], cause: int) -> None:
    """As busy, if it says so; an answered caller is hung up as always."""
    story = ringing_call({"type": "hangup", "data": data})
    assert story.commands_of(Hangup) == [Hangup(CHANNEL, cause)]
    answered = ringing_call(say(action={"type": "hangup", "data": data}))
    answered.take(LegAnswered(CHANNEL))
    answered.deliver_media(())
    assert answered.commands_of(Hangup) == [Hangup(CHANNEL, NORMAL)]


def test_a_caller_that_hangs_up_while_it_rings_has_canceled() -> None:
    """The called party stops ringing."""
    story = ringing_call(DIAL)
    story.take(LegCreated(LEG))
    assert Hangup(LEG, NORMAL) in story.take(LegEnded(CHANNEL, NORMAL))
    story.take(LegEnded(LEG, NORMAL))
    assert (story.status, story.emitted[-1].ended_by) == ("canceled", "caller")


def test_webhooks_and_pauses_do_not_answer() -> None:
    """The caller hears ringing while they run."""
    story = ringing_call({"type": "pause", "data": {"length": 2}, "action": HTTPS})
    story.pass_deadline()
    assert story.state == "awaiting-instructions"
    request = f"{ID}.r0"
    story.take(ActionReceived(request, tree(DIAL)))
    assert (story.state, story.commands_of(Answer)) == ("dialing", [])
    assert len(story.commands_of(Originate)) == 1


def test_a_party_that_is_called_in_answers_the_call() -> None:
    """As soon as it is connected."""
    story = ringing_call({"type": "pause", "data": {"length": 60}})
    story.take(DialRequested(EVE, 20))
    story.take(LegCreated(LEG))
    commands = story.take(LegAnswered(LEG))
    assert commands[0] == Answer(CHANNEL)
    assert story.state == "bridged"


def test_early_media_reaches_a_caller_that_is_not_answered() -> None:
    """It is bridged while both ring, and answered with the called party."""
    story = ringing_call({"type": "dial", "data": {"number": BOB, "earlyMedia": True}})
    leg = f"{ID}.l0"
    commands = story.take(LegCreated(leg))
    assert commands[0] == AddToBridge(f"{ID}.b1", (CHANNEL, leg))
    assert story.take(LegAnswered(leg))[0] == Answer(CHANNEL)
    assert story.take(LegAnswered(CHANNEL)) == ()


def hears_early_media(**more: Any) -> tuple[Story, str]:
    """Return a call whose caller, who is not answered, hears the called party's early media."""
    data = {"number": BOB, "earlyMedia": True, **more.pop("data", {})}
    story = ringing_call({"type": "dial", "data": data, **more})
    story.take(LegCreated(LEG))
    return story, story.state_as(Dialing).bridge


@pytest.mark.parametrize(
    "screened",
    [{"confirm": {"text": "Press one."}}, {"whisper": say()}, {"machineDetection": True}],
)
def test_an_unanswered_caller_is_not_bridged_with_a_party_to_be_screened(
    screened: dict[str, Any],
) -> None:
    """Asterisk would answer it with the party, before the screening is passed."""
    story, bridge = hears_early_media(data=screened)
    assert bridge == ""
    assert story.commands_of(StartRinging)[-1] == StartRinging(CHANNEL)
    assert Answer(CHANNEL) not in story.take(LegAnswered(LEG))


def test_an_unanswered_caller_hears_ringing_while_the_next_party_is_called() -> None:
    story, bridge = hears_early_media(action=DIAL)
    commands = story.take(LegEnded(LEG, BUSY))
    assert {RemoveFromBridge(bridge, CHANNEL), StartRinging(CHANNEL)} <= set(commands)


def test_a_prompt_after_early_media_is_played_outside_of_the_bridge() -> None:
    """The bridge is left before it is destroyed: else Asterisk may lose the prompt."""
    story, bridge = hears_early_media(action=say())
    commands = story.take(LegEnded(LEG, BUSY))
    left, destroyed = RemoveFromBridge(bridge, CHANNEL), DestroyBridge(bridge)
    assert commands.index(left) < commands.index(destroyed)


def test_the_ringing_of_an_unanswered_caller_survives_a_takeover() -> None:
    """It is repeated if its reply is not known."""
    story = ringing_call(HTTPS)
    pending = (StartRinging(CHANNEL),)
    seen = PbxSnapshot({CHANNEL: "Ring"})
    assert reconcile(story.call, pending, seen, story.now)[0] == pending


def test_an_answer_that_never_comes_ends_the_call() -> None:
    """After 15 seconds, as for every inbound call: by then its request was repeated."""
    story = ringing_call(say())
    story.take(DeadlinePassed(), 15_000)
    assert story.state == "ending"


def test_other_calls_are_answered_at_once() -> None:
    """The setting is off by default."""
    story = Story(inbound(DIAL))
    story.take(CallOpened())
    assert (story.commands_of(Answer), story.commands_of(StartRinging)) == ([Answer(CHANNEL)], [])
