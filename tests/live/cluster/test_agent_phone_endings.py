"""How calls to an agent's phone end, at the call's node and at another one."""

from pathlib import Path

import pytest

from engine.calls.model import causes
from tests.harness.pbx.two_nodes import WAITS, TwoNodes
from tests.harness.phones.parties import Parties
from tests.harness.phones.phone import Phone
from tests.harness.phones.registration import register
from tests.harness.ports import free_port
from tests.harness.until import until
from tests.live.cluster.phones_of_two_nodes import AGENT, dial


@pytest.mark.parametrize(
    ("status", "cause", "result"),
    [(486, 17, "busy"), (480, 19, "no-answer"), (603, 21, "failed")],
)
async def test_a_refusal_is_reported_as_from_the_own_node(
    two: TwoNodes, status: int, cause: int, result: str
) -> None:
    """Cause and SIP status are those of the phone."""
    seen = []
    for pbx in two.nodes:
        port = free_port()
        await register(pbx, AGENT, port)
        async with Phone.refusing(port, status):
            call = await two.call(to=f"agent:{AGENT}", node="pbx1")
            ended = await two.engine.wait_for_event(call, "completed")
            seen.append((ended["callStatus"], ended["hangupCause"], ended["sipCode"]))
        await register(pbx, AGENT, port, 0)
    assert seen == [(result, cause, status)] * 2


@pytest.mark.parametrize("home", [0, 1])
async def test_no_phone_forwards_a_call(two: TwoNodes, home: int) -> None:
    """The number that a phone at pbx2 names (302) is not called, although it has a route there.

    The phone takes no call: it is busy, with the same reason at both nodes.
    """
    number = await two.lab(1).add_number(WAITS)
    port = free_port()
    await register(two.nodes[1], AGENT, port)
    async with Phone.refusing(port, 302, (f"Contact: <sip:{number}@127.0.0.1>",)):
        call = await two.call(to=f"agent:{AGENT}", node=two.nodes[home].name)
        ended = await two.engine.wait_for_event(call, "completed")
    found = [ended[each] for each in ("callStatus", "hangupCause", "sipCode", "reason")]
    assert found == ["busy", causes.REDIRECTED, 302, "redirected"]
    await until(lambda: _has_no_call(two), what="no call")


async def _has_no_call(two: TwoNodes) -> bool:
    return not (await two.engine.rpc("GET", "/calls"))["calls"]


async def test_a_phone_that_is_registered_nowhere_fails(two: TwoNodes) -> None:
    """The agent is unavailable."""
    view = await two.lab(0).wait_ended(await two.call(to="agent:1003"))
    assert (view["status"], view["hangupCause"]) == ("failed", 41)


async def test_a_phone_that_vanishes_has_not_hung_up(tmp_path: Path) -> None:
    """Its node notices that its audio has stopped, and passes the cause on."""
    two = TwoNodes(tmp_path, rtp_timeouts_s=(45, 6))
    try:
        await two.ensure_running()
        async with Parties(two.lab(0)) as parties:
            agent = await parties.add_agent("source", AGENT, pbx=two.nodes[1])
            await parties.call_in(await parties.lab.add_number(dial()))
            await parties.expect_audio(customer="source", source="customer")
            await agent.disconnect()
            ended = await two.engine.wait_for_event(parties.call, "leg-completed")
            assert (ended["agent_id"], ended["hangupCause"]) == (AGENT, causes.CHANNEL_UNAVAILABLE)
            await parties.lab.wait_ended(parties.call)
    finally:
        await two.stop()
