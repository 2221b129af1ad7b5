"""A party that may not be called: its leg fails with the reason, and the tree continues."""

import json

import pytest

from engine.calls.model.call_states import Dialing
from engine.calls.model.events import CallOpened, LegCreated, LegEnded
from engine.calls.model.io_commands import SendWebhook
from tests.harness.calls.builders import HTTPS, ID, MAIN, Story, dialing_call, outbound
from tests.harness.calls.control import TARGET, transferring

BOB, EVE = "+4712345678", "+4712345679"
FIRST, SECOND = f"{ID}.l1", f"{ID}.l2"


def reject(story: Story, leg: str, reason: str = "do_not_call") -> None:
    """End a leg whose party may not be called."""
    story.take(LegEnded(leg, 21, reason=reason))


@pytest.mark.parametrize("reason", ["not_allowed", "do_not_call"])
def test_the_tree_continues_with_the_reason(reason: str) -> None:
    """As after a rejecting party; the leg's last event and the webhook have the reason."""
    story = dialing_call(BOB, action=HTTPS)
    reject(story, FIRST, reason)
    assert story.state == "awaiting-instructions"
    body = json.loads(story.commands_of(SendWebhook)[-1].body)
    assert body["dial"] == {"status": "failed", "cause": 21, "number": BOB, "reason": reason}
    leg = next(each for each in story.emitted if each.event == "leg-completed")
    assert (leg.leg_status, leg.hangup_cause, leg.reason) == (
        "failed",
        21,
        reason,
    )


def test_the_others_go_on_ringing() -> None:
    """With several parties, no answer takes precedence over a party that may not be called."""
    story = dialing_call(BOB, EVE, action=HTTPS)
    reject(story, FIRST)
    assert story.state_as(Dialing).legs == (SECOND,)
    story.take(LegCreated(SECOND))
    story.pass_deadline()
    body = json.loads(story.commands_of(SendWebhook)[-1].body)
    assert (body["dial"]["status"], "reason" in body["dial"]) == ("no-answer", False)


def test_a_call_that_may_not_be_made() -> None:
    """It fails, ended by the system, and its record has the reason."""
    story = Story(outbound())
    story.take(CallOpened())
    reject(story, MAIN)
    record = story.emitted[-1].record
    assert record is not None
    assert (record.status, record.reason, record.ended_by) == ("failed", "do_not_call", "system")
    assert [(leg.status, leg.reason) for leg in record.legs] == [("failed", "do_not_call")]
    assert record.dialed_numbers == ()


def test_a_transfer_to_a_forbidden_party() -> None:
    """The transfer fails, and the source gets the customer back."""
    story = transferring()
    reject(story, TARGET)
    (transfer,) = story.call.transfers
    assert (transfer.state, transfer.reason) == ("failed", "target_reject")
