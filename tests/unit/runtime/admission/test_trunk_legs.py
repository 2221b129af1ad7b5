"""Which legs count as calls over the trunk."""

from engine.calls.model.call import Call, update_leg
from engine.runtime.admission.capacity_limits import TrunkLegs
from tests.unit.calls.harness.builders import CHANNEL, MAIN, bridged_call
from tests.unit.calls.harness.call_records import DIALED, inbound_conversation
from tests.unit.runtime.harness.shard_bench import ManualClock


def count(call: Call) -> int:
    return TrunkLegs(ManualClock(), lambda: [call]).count


def test_half_of_a_local_channel_is_no_call_over_the_trunk() -> None:
    """Its party's own leg counts in its own call."""
    call = bridged_call("+4722222222").call
    assert count(call) == 2
    assert count(update_leg(call, MAIN, replaces="1700000000.9")) == 1


def test_an_agent_who_calls_in_is_not_called_over_the_trunk() -> None:
    """The party of its leg is a caller id; an agent who is called by number counts."""
    story = inbound_conversation()
    own = count(story.call)
    assert count(update_leg(story.call, CHANNEL, agent_id="7")) == own - 1
    assert count(update_leg(story.call, DIALED, agent_id="7")) == own
    assert count(update_leg(bridged_call("+4722222222").call, MAIN, agent_id="7")) == 2
