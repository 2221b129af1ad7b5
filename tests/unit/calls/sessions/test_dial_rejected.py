"""A party that may not be called: its leg fails with the reason, and the tree goes on."""

import json

import pytest

from engine.calls.model.events import CallOpened, LegCreated, LegEnded
from engine.calls.model.io_commands import SendWebhook
from engine.calls.model.state import Dialing
from tests.unit.calls.harness.builders import HTTPS, ID, MAIN, Story, dialing, outbound
from tests.unit.calls.harness.control import TARGET, transferring

BOB, EVE = "+4712345678", "+4712345679"
FIRST, SECOND = f"{ID}.l1", f"{ID}.l2"


def refused(story: Story, leg: str, reason: str = "do_not_call") -> None:
    """Let it be found out that a leg's party may not be called."""
    story.take(LegEnded(leg, 21, reason=reason))


@pytest.mark.parametrize("reason", ["not_allowed", "do_not_call"])
def test_the_tree_goes_on_and_is_told_why(reason: str) -> None:
    """As after a party that refused; the leg's last event has the reason, and so the webhook."""
    story = dialing(BOB, action=HTTPS)
    refused(story, FIRST, reason)
    assert story.state == "awaiting-instructions"
    body = json.loads(story.wanted(SendWebhook)[-1].body)
    assert body["dial"] == {"status": "failed", "cause": 21, "number": BOB, "reason": reason}
    told = next(each for each in story.told if each.event == "leg-completed")
    assert (told.leg_status, told.hangup_cause, told.reason) == ("failed", 21, reason)


def test_the_others_go_on_ringing() -> None:
    """One of several; if nobody answers, that weighs more than who may not be called."""
    story = dialing(BOB, EVE, action=HTTPS)
    refused(story, FIRST)
    assert story.state_as(Dialing).legs == (SECOND,)
    story.take(LegCreated(SECOND))
    story.due()
    body = json.loads(story.wanted(SendWebhook)[-1].body)
    assert (body["dial"]["status"], "reason" in body["dial"]) == ("no-answer", False)


def test_a_call_that_may_not_be_made() -> None:
    """It has failed, by the system, and its record says why."""
    story = Story(outbound())
    story.take(CallOpened())
    refused(story, MAIN)
    record = story.told[-1].record
    assert record is not None
    assert (record.status, record.reason, record.ended_by) == ("failed", "do_not_call", "system")
    assert [(leg.status, leg.reason) for leg in record.legs] == [("failed", "do_not_call")]
    assert record.dialed_numbers == ()


def test_a_transfer_to_who_may_not_be_called() -> None:
    """It has failed, and the source has the customer back."""
    story = transferring()
    refused(story, TARGET)
    (transfer,) = story.call.transfers
    assert (transfer.state, transfer.reason) == ("failed", "target_reject")
