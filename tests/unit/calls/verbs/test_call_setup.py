"""Call setup until the first verb."""

import pytest
from msgspec.structs import replace

from engine.calls.model.call_states import AwaitingInstructions, Playing, Starting
from engine.calls.model.causes import BUSY, NO_ANSWER, NORMAL, REJECTED
from engine.calls.model.commands import Answer, Dial, Hangup, Originate
from engine.calls.model.events import (
    CallOpened,
    DeadlinePassed,
    DigitPressed,
    LegAnswered,
    LegCreated,
    LegEnded,
    LegRinging,
    Recovered,
)
from engine.calls.model.io_commands import PrefetchMedia
from engine.calls.model.io_results import ActionFailed
from engine.calls.model.requests import HangupRequested
from engine.calls.verbs.call_setup import ANSWER_TIMEOUT_MS
from tests.harness.calls.builders import (
    CHANNEL,
    HTTPS,
    MAIN,
    NOW,
    Story,
    answered_call,
    inbound,
    outbound,
    say,
    tree,
)
from wire.media import Audio, Speech


def test_an_outbound_call_originates_its_main_leg() -> None:
    """`to` is dialed when its leg exists, for the originate's timeout; it is shown `from`."""
    story = Story(outbound())
    assert story.take(CallOpened()) == (Originate(MAIN, "+4711111111", "+4799"),)
    assert story.take(LegCreated(MAIN), 700) == (Dial(MAIN, 30),)
    assert story.state_as(Starting).deadline_ms == NOW + 30_700
    assert story.take(LegCreated(MAIN), 100) == ()
    assert story.call.status == "initiated"
    assert [event.event for event in story.emitted] == ["initiated"]


def test_an_inbound_call_is_answered() -> None:
    """It is answered, then its number's action runs."""
    story = Story(inbound(say()))
    assert story.take(CallOpened()) == (PrefetchMedia((Speech("hello"),)), Answer(CHANNEL))
    story.take(LegAnswered(CHANNEL), 100)
    assert story.state == "playing"
    assert story.call.status == "in-progress"


def test_an_answer_that_an_outage_delays() -> None:
    """The caller rings on: the request is repeated at the end of the outage."""
    story = Story(inbound(say()))
    story.take(CallOpened(), 0)
    story.take(Recovered(), ANSWER_TIMEOUT_MS + 5_000)
    assert story.take(DeadlinePassed(), ANSWER_TIMEOUT_MS - 1) == ()
    story.take(DeadlinePassed(), 1)
    assert story.state == "ending"


@pytest.mark.parametrize("event", [LegAnswered(CHANNEL), Recovered(), DeadlinePassed()])
def test_an_answer_whose_ack_is_awaited(event: LegAnswered | Recovered | DeadlinePassed) -> None:
    """The call is answered; its action runs when the ACK has come, or may have."""
    story = Story(inbound(say()))
    story.take(CallOpened())
    story.take(LegAnswered(CHANNEL, awaits_ack=True), 100)
    answered_ms = story.now
    assert (story.status, story.state) == ("in-progress", "starting")
    story.take(event, 10_000)
    assert (story.state, story.call.answered_ms) == ("playing", answered_ms)
    assert [each.event for each in story.emitted] == ["initiated", "answered"]


def test_audio_is_prefetched_while_it_rings() -> None:
    """The tree's audio is fetched before it is needed."""
    play = {"type": "play", "data": {"audioUrl": HTTPS}}
    story = Story(outbound(play))
    assert story.take(CallOpened())[0] == PrefetchMedia((Audio(HTTPS),))


def test_the_states_of_the_main_leg() -> None:
    """queued, initiated, ringing, in-progress: each is reported once."""
    story = Story(outbound(say()))
    assert story.status == "queued"
    for event in (
        CallOpened(),
        LegCreated(MAIN),
        LegRinging(MAIN),
        LegRinging(MAIN),
        LegCreated(MAIN),
    ):
        story.take(event, 10)
    assert story.status == "ringing"
    story.take(LegAnswered(MAIN), 10)
    story.take(LegAnswered(MAIN), 10)
    story.take(LegRinging(MAIN), 10)
    assert story.status == "in-progress"
    assert [event.event for event in story.emitted] == ["initiated", "ringing", "answered"]
    assert [event.sequence_number for event in story.emitted] == [0, 1, 2]


def test_no_answer() -> None:
    """When the originate's timeout passes, the leg is hung up and the call is no-answer."""
    story = Story(outbound())
    story.take(CallOpened())
    assert story.pass_deadline() == (Hangup(MAIN, NO_ANSWER),)
    assert story.now == NOW + 30_000
    story.take(LegEnded(MAIN, NORMAL), 50)
    assert (story.call.status, story.call.cause) == ("no-answer", NO_ANSWER)
    assert story.emitted[-1].ended_by == "system"


def test_a_busy_party() -> None:
    """17 busy: the leg's cause is the call's, with its SIP status."""
    story = Story(outbound())
    story.take(CallOpened())
    assert story.take(LegEnded(MAIN, BUSY, 486), 900) == ()
    assert story.call.is_ended
    assert story.call.status == "busy"
    last = story.emitted[-1]
    assert (last.event, last.hangup_cause, last.sip_code) == ("completed", BUSY, 486)
    assert (last.ended_by, last.duration) == ("callee", 0)


def test_a_party_that_rejects() -> None:
    """21 is failed, with the reason `rejected`."""
    story = Story(outbound())
    story.take(CallOpened())
    story.hang_up(REJECTED)
    assert (story.call.status, story.emitted[-1].reason) == ("failed", "rejected")


def test_hangup_requested_while_starting() -> None:
    """A hangup before the answer: canceled, also while the leg is being created."""
    story = Story(outbound())
    story.take(CallOpened())
    assert story.take(HangupRequested("api"), 10) == (Hangup(MAIN, NORMAL),)
    assert story.take(LegCreated(MAIN), 10) == (Hangup(MAIN, NORMAL),)
    story.take(LegEnded(MAIN, NORMAL), 10)
    assert (story.call.status, story.call.ended_by) == ("canceled", "api")


def test_an_answer_crosses_the_cancel() -> None:
    """The carrier bills the call, so it was answered, by reason `answered_late`."""
    story = Story(outbound())
    story.take(CallOpened())
    story.take(LegCreated(MAIN), 10)
    story.pass_deadline()
    assert story.take(LegAnswered(MAIN), 30) == (Hangup(MAIN, NORMAL),)
    story.take(LegEnded(MAIN, NORMAL), 400)
    completed = story.emitted[-1]
    assert (completed.call_status, completed.ended_by, completed.reason) == (
        "completed", "system", "answered_late",
    )  # fmt: skip
    assert (completed.duration_ms, completed.duration) == (400, 1)
    assert completed.record is not None
    assert completed.record.legs[0].status == "completed"


def test_a_caller_who_gives_up_before_the_answer() -> None:
    """An inbound call whose caller hangs up before the answer is canceled."""
    story = Story(inbound(say()))
    story.take(CallOpened())
    story.hang_up()
    assert (story.call.status, story.call.ended_by) == ("canceled", "caller")


def test_other_events_change_nothing() -> None:
    """Digits and a recovery are ignored before the answer."""
    story = Story(outbound())
    story.take(CallOpened())
    before = story.call
    assert story.take(DigitPressed(MAIN, "1", NOW)) == ()
    assert story.take(Recovered()) == ()
    assert story.call is before


def test_without_an_action_the_call_hangs_up() -> None:
    story = answered_call()
    assert story.commands_of(Hangup) == [Hangup(MAIN, NORMAL)]
    story.hang_up()
    assert (story.call.status, story.call.ended_by) == ("completed", "action")


def test_a_stray_leg_is_hung_up() -> None:
    """A stray channel with a call's id is hung up at once."""
    story = Story(outbound())
    story.take(CallOpened())
    assert story.take(LegAnswered(f"{MAIN}9")) == (Hangup(f"{MAIN}9", NORMAL),)
    assert story.take(LegEnded(f"{MAIN}9", NORMAL)) == ()
    assert isinstance(story.call.state, Starting)


@pytest.mark.parametrize("action", [HTTPS, {"type": "flow", "data": {"flowId": "f"}}])
@pytest.mark.parametrize("rings", [False, True])
def test_the_fallback_of_a_route(action: object, rings: bool) -> None:
    """It runs if the first webhook or flow fails, also if the call rings until then (`answer`)."""
    call = inbound(action)
    fallback = tree(say())
    assert isinstance(call.state, Starting)
    assert not isinstance(fallback, str)
    state = replace(call.state, fallback=fallback)
    story = Story(replace(call, state=state, answer_deferred=rings))
    story.take(CallOpened())
    if not rings:
        story.take(LegAnswered(CHANNEL), 10)
    story.take(ActionFailed(story.state_as(AwaitingInstructions).request, "status_500"), 10)
    if rings:
        story.take(LegAnswered(CHANNEL), 10)
    assert story.state_as(Playing).verb == fallback
    story.hang_up()
    assert (story.call.status, story.call.ended_by, story.call.reason) == (
        "completed",
        "caller",
        "",
    )
