"""Who ended a call and each of its legs, and why."""

import pytest
from msgspec.structs import replace

from engine.calls.model import causes
from engine.calls.model.commands import Hangup
from engine.calls.model.events import CallDropped, CallOpened, LegAnswered, LegEnded, LegRinging
from engine.calls.model.requests import HangupRequested, LegHangupRequested
from tests.harness.calls.builders import (
    CHANNEL,
    MAIN,
    Story,
    bridged_call,
    dialing_call,
    outbound,
    say,
)
from tests.harness.calls.call_records import (
    DIALED,
    answered_inbound_call,
    completed,
    inbound_conversation,
    record,
)
from tests.harness.calls.control import (
    BOB,
    PEER,
    TARGET,
    THIRD,
    complete,
    in_conference,
    kick,
    progress,
    transfer_to,
    transferring,
)
from tests.harness.record_checks import record_faults

MEDIA_TIMEOUT = causes.CHANNEL_UNAVAILABLE


def legs_ended_by(story: Story) -> list[str | None]:
    """Return who ended each leg, in the order of their requests."""
    return [leg.ended_by for leg in record(story).legs]


def test_the_caller_hangs_up() -> None:
    """The caller ended both legs, although the engine hangs up the second."""
    story = inbound_conversation()
    story.take(LegEnded(CHANNEL, causes.NORMAL), 1_000)
    end = completed(story)
    assert (end.ended_by, end.ended_by_channel_id, end.reason) == ("caller", CHANNEL, None)
    assert legs_ended_by(story) == ["caller", "caller"]


def test_the_dialed_party_hangs_up() -> None:
    """Without a further action the callee has ended the call."""
    story = inbound_conversation()
    story.take(LegEnded(DIALED, causes.NORMAL), 1_000)
    end = completed(story)
    assert (end.ended_by, end.ended_by_channel_id, end.hangup_cause) == ("callee", DIALED, 16)
    assert legs_ended_by(story) == ["callee", "callee"]


def test_the_tree_continues_after_the_dialed_party() -> None:
    """Then the tree ends the call, not the callee."""
    story = inbound_conversation({"type": "hangup"})
    story.take(LegEnded(DIALED, causes.NORMAL), 1_000)
    end = completed(story)
    assert (end.ended_by, end.ended_by_channel_id) == ("action", None)
    assert legs_ended_by(story) == ["action", "callee"]


@pytest.mark.parametrize(
    ("cause", "status"),
    [
        (causes.BUSY, "busy"),
        (causes.REDIRECTED, "busy"),
        (causes.NO_ANSWER, "no-answer"),
        (causes.REJECTED, "failed"),
        (1, "failed"),
        (causes.CONGESTION, "failed"),
    ],
)
def test_the_first_party_of_click_to_call_refuses(cause: int, status: str) -> None:
    """It has the role of a caller, but it gives nothing up: it is called."""
    call = outbound()
    story = Story(replace(call, legs=(replace(call.legs[0], is_caller=True),)))
    story.take(CallOpened())
    story.take(LegEnded(MAIN, cause), 1_000)
    assert (completed(story).call_status, completed(story).ended_by) == (status, "caller")
    assert [leg.status for leg in record(story).legs] == [status]


def test_the_first_party_of_click_to_call_hangs_up() -> None:
    """It is the caller, as the call comes from it."""
    call = outbound({"type": "dial", "data": {"number": BOB}})
    story = Story(replace(call, legs=(replace(call.legs[0], is_caller=True),)))
    story.take(CallOpened())
    story.take(LegAnswered(MAIN), 2_000)
    story.take(LegAnswered(PEER), 2_000)
    story.take(LegEnded(MAIN, causes.NORMAL), 4_000)
    assert completed(story).ended_by == "caller"


@pytest.mark.parametrize(("leg", "by"), [(MAIN, "callee"), (TARGET, "callee")])
def test_after_a_transfer(leg: str, by: str) -> None:
    """The leg of the party that hangs up is named, customer or target."""
    story = transferring("answered")
    story.take(complete())
    story.take(LegEnded(PEER, causes.NORMAL), 10)
    story.take(LegEnded(leg, causes.NORMAL), 1_000)
    end = completed(story)
    assert (end.ended_by, end.ended_by_channel_id) == (by, leg)


def test_after_a_transfer_by_the_caller() -> None:
    """The called agent hangs up: it is not the caller, although its leg is the main leg."""
    story = inbound_conversation()
    story.take(transfer_to(source=CHANNEL, customer=DIALED), 1_000)
    target = story.call.transfers[-1].target
    progress(story, target, "answered")
    story.take(complete(story.call.transfers[-1].id))
    story.take(LegEnded(CHANNEL, causes.NORMAL), 10)
    story.take(LegEnded(DIALED, causes.NORMAL), 1_000)
    end = completed(story)
    assert (end.ended_by, end.ended_by_channel_id) == ("callee", DIALED)
    assert legs_ended_by(story) == ["api", "callee", "callee"]


def test_after_the_founder_of_a_conference_left() -> None:
    """The one who hangs up last but one has ended the call."""
    story = in_conference()
    story.take(LegEnded(MAIN, causes.NORMAL), 1_000)
    story.take(LegEnded(PEER, causes.NORMAL), 1_000)
    end = completed(story)
    assert (end.ended_by, end.ended_by_channel_id) == ("callee", PEER)
    assert legs_ended_by(story) == ["callee", "callee", "callee"]


def test_the_last_but_one_is_kicked() -> None:
    """A request has ended the call."""
    story = in_conference()
    story.take(LegEnded(MAIN, causes.NORMAL), 1_000)
    story.take(kick(THIRD), 1_000)
    assert completed(story).ended_by == "api"
    assert legs_ended_by(story) == ["callee", "api", "api"]


@pytest.mark.parametrize("leg", [MAIN, PEER])
def test_a_leg_is_hung_up_by_request(leg: str) -> None:
    """Whichever of the two legs it is, the API has ended the call."""
    story = bridged_call(BOB)
    assert story.take(LegHangupRequested(leg), 1_000) == (Hangup(leg, causes.NORMAL),)
    assert story.state == "bridged"
    story.take(LegEnded(leg, causes.NORMAL), 10)
    assert completed(story).ended_by == "api"
    assert legs_ended_by(story) == ["api", "api"]


def test_the_call_is_hung_up_by_request() -> None:
    """All legs were ended by the API."""
    story = bridged_call(BOB)
    story.take(HangupRequested("api"), 1_000)
    assert completed(story).ended_by == "api"
    assert legs_ended_by(story) == ["api", "api"]


@pytest.mark.parametrize("leg", [CHANNEL, DIALED])
def test_a_phone_is_gone(leg: str) -> None:
    """Without RTP no party has hung up: the reason is `media_timeout`, on call and leg."""
    story = inbound_conversation()
    story.take(LegEnded(leg, MEDIA_TIMEOUT), 60_000)
    end = completed(story)
    assert (end.ended_by, end.ended_by_channel_id) == ("system", leg)
    assert (end.hangup_cause, end.reason) == (MEDIA_TIMEOUT, "media_timeout")
    legs = {each.channel_id: each for each in record(story).legs}
    assert (legs[leg].ended_by, legs[leg].reason) == ("system", "media_timeout")
    hangups = story.commands_of(Hangup)
    assert {each.cause for each in hangups} == {causes.NORMAL}, "the other phone is not gone"


def test_an_answer_that_is_never_acknowledged() -> None:
    """Cause 18 after the answer is a `signaling_timeout`; before it, no answer."""
    story = answered_inbound_call(say())
    story.take(LegEnded(CHANNEL, causes.NO_USER_RESPONSE), 32_000)
    end = completed(story)
    assert (end.ended_by, end.reason, end.call_status) == (
        "system", "signaling_timeout", "completed",
    )  # fmt: skip


def test_a_phone_without_a_contact() -> None:
    """The PBX refused: the system has ended the call, and no party was called."""
    story = Story(outbound(say()))
    story.take(CallOpened())
    story.take(LegEnded(MAIN, causes.TEMPORARY_FAILURE, reason="unavailable"), 10)
    end = completed(story)
    assert (end.call_status, end.ended_by, end.reason) == ("failed", "system", "unavailable")
    assert record(story).dialed_numbers == ()


def test_a_called_party_refuses() -> None:
    """The callee has ended the call, with a reason that names the cause."""
    for cause, reason in (
        (1, "unallocated_number"),
        (3, "no_route_to_destination"),
        (23, "redirected"),
        (34, "no_circuit"),
        (102, "network_timeout"),
        (17, None),
    ):
        story = Story(outbound(say()))
        story.take(CallOpened())
        story.take(LegEnded(MAIN, cause), 10)
        assert (completed(story).ended_by, completed(story).reason) == ("callee", reason)


def test_the_losers_of_a_ring_group() -> None:
    """The dial hangs them up, not their parties."""
    story = dialing_call(BOB, "+4787654321")
    story.take(LegRinging(PEER), 500)
    story.take(LegAnswered(PEER), 500)
    story.take(LegEnded(f"{PEER[:-1]}2", causes.NORMAL), 10)
    story.hang_up()
    assert legs_ended_by(story) == ["callee", "action", "callee"]


def test_a_party_that_rings_too_long() -> None:
    """The ring timeout is the system's."""
    story = dialing_call(BOB)
    story.pass_deadline()
    assert legs_ended_by(story) == ["action", "system"]


def test_the_time_limit_of_a_dial() -> None:
    """The system ends the conversation, and with it a call without a further action."""
    story = inbound_conversation(timeLimit=30)
    story.pass_deadline()
    end = completed(story)
    assert (end.ended_by, end.reason) == ("system", "time_limit")
    assert legs_ended_by(story) == ["system", "system"]


def test_a_call_is_dropped() -> None:
    """After an internal error the call ends at once: event, record, and all legs hung up."""
    story = bridged_call(BOB, action=say())
    hangups = story.take(CallDropped("internal"), 1_000)
    assert [type(each).__name__ for each in hangups] == ["DestroyBridge", "Hangup", "Hangup"]
    assert story.call.is_ended
    last, end = story.emitted[-2:]
    assert (last.event, last.leg_status, last.ended_by) == ("leg-completed", "completed", "system")
    assert (end.event, end.ended_by, end.reason, end.hangup_cause) == (
        "completed", "system", "internal", causes.TEMPORARY_FAILURE,
    )  # fmt: skip
    assert not list(record_faults(story.emitted))
