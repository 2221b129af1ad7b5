"""H1: no request reaches a SIP host that is not allowed, and only agents may send REFER."""

from typing import Any

import pytest

from engine.calls.model.events import LegAnswered
from engine.runtime.pbx_nodes.refers import NOT_AN_AGENT
from engine.runtime.policy.dial_policy import DialPolicy
from tests.harness.calls.builders import ID, MAIN, outbound
from tests.harness.memory_store.documents import MemoryDialPolicyStore
from tests.harness.runtime.ari_messages import refer, refer_to_call
from tests.harness.runtime.inbound_node import InboundNode, inbound_node, start_conversation

EVIL = "sip:evil@192.0.2.2:5999"


async def test_a_host_that_is_not_allowed() -> None:
    """The check is where the leg is dialled, so it holds for whatever requests the leg."""
    policy = DialPolicy(MemoryDialPolicyStore(), lambda: 0, sip_hosts=("sbc.example.com",))
    decisions: list[str] = []
    policy.authorize(outbound(), EVIL, "", lambda decision: decisions.append(decision.rejection))
    assert decisions == ["sip_host"]
    assert await policy.check("acme", EVIL) == "sip_host"
    assert await policy.check("acme", "sip:ada@SBC.example.com:5060") != "sip_host"


def dialled(at: InboundNode) -> int:
    """Count the legs that the PBX had to create."""
    return at.scene.pbx.lines.count("POST channels/create")


@pytest.mark.parametrize("event", [refer(destination="+4790000000"), refer_to_call()])
async def test_a_refer_of_a_party_that_is_no_agent(event: Any) -> None:
    """A party of the trunk may not transfer: no leg is dialled, and the parties stay connected."""
    async with inbound_node() as at:
        shard = at.scene.shard
        dial = {"type": "dial", "data": {"number": "+4712345678", "agent_id": "1001"}}
        live_call = shard.start_call(outbound(dial))
        for leg in (MAIN, f"{ID}.l1"):
            shard.feed(live_call, LegAnswered(leg))
        at.scene.pbx.settle()
        before = dialled(at)
        at.node.on_event(0, event)
        at.scene.pbx.settle()
        assert (dialled(at), live_call.call.transfers) == (before, ())
        assert live_call.call.status == "in-progress"
        declined = shard.context.metrics.calls.refers_declined
        assert dict(declined) == {("",): 1}


async def test_a_refer_of_an_agent() -> None:
    """The agent's phone transfers its party."""
    async with inbound_node() as at:
        live_call = start_conversation(at)
        at.node.on_event(0, refer(destination="+4790000000"))
        assert [each.party for each in live_call.call.transfers] == ["+4790000000"]
        assert NOT_AN_AGENT not in str(live_call.call)
