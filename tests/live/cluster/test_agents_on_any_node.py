"""Agents whose phones are registered at another node than their call's: every way to reach them."""

import asyncio
from functools import partial

import pytest

from tests.harness.pbx.asterisk import Pbx
from tests.harness.pbx.two_nodes import WAITS, TwoNodes, node_of
from tests.harness.phones.parties import CUSTOMER
from tests.harness.phones.phone import Phone
from tests.harness.phones.registration import register
from tests.harness.phones.sessions import Conference, Transfer, all_hear_all
from tests.harness.phones.sip import ALAW_AND_EVENTS as ALAW
from tests.harness.ports import free_port
from tests.harness.until import until
from tests.live.cluster.phones_of_two_nodes import (
    AGENT,
    BOTH_WAYS,
    dial,
    parties_at,
)

KEYS_MS = 480  # three keys and two gaps, in which a phone sends no audio
MAX_GAP_MS = 1_000

pytestmark = pytest.mark.usefixtures("unregistered_phones")


@BOTH_WAYS
async def test_an_inbound_call_reaches_the_agent(two: TwoNodes, home: int) -> None:
    """Both hear each other, the phone shows the caller's number, and keys pass."""
    async with parties_at(two, home) as parties:
        agent = await parties.add_agent("source", AGENT, pbx=two.nodes[1 - home])
        await parties.call_in(await parties.lab.add_number(dial()))
        assert node_of(parties.call) == two.nodes[home].name
        await parties.expect_audio(customer="source", source="customer")
        assert agent.caller_id == CUSTOMER
        await agent.hang_up()
        await parties.lab.wait_ended(parties.call)
        ended = await two.engine.wait_for_event(parties.call, "leg-completed")
        assert (ended["agent_id"], ended["hangupCause"]) == (AGENT, 16)


@BOTH_WAYS
async def test_the_callers_codec_passes_both_nodes(two: TwoNodes, home: int) -> None:
    """The phone at the other node is offered the caller's codec first, so nothing is transcoded."""
    number = await two.lab(home).add_number(dial())
    async with (
        Phone.agent(two.nodes[1 - home], AGENT) as agent,
        Phone.calling(two.nodes[home], number, media=ALAW) as caller,
    ):
        await asyncio.gather(agent.wait_answered(), caller.wait_answered())
        await caller.hang_up()
    offer = next(each for each in agent.messages if each.method == "INVITE")
    assert offer.payload_types[:2] == ["8", "0"]


@BOTH_WAYS
async def test_both_press_keys_at_the_same_time(two: TwoNodes, home: int) -> None:
    """They hear each other at once afterwards."""
    async with parties_at(two, home) as parties:
        agent = await parties.add_agent("source", AGENT, pbx=two.nodes[1 - home])
        customer = await parties.call_in(await parties.lab.add_number(dial()))
        await parties.expect_audio(customer="source", source="customer")
        await asyncio.gather(customer.press("123"), agent.press("258"))
        await parties.expect_audio(customer="source", source="customer")
        for name, other in (("customer", "source"), ("source", "customer")):
            assert parties.listener(name).longest_gap_ms(other) < KEYS_MS + MAX_GAP_MS


@BOTH_WAYS
async def test_keys_of_an_agent_at_the_other_node(two: TwoNodes, home: int) -> None:
    """They arrive in order, whether they are short or long."""
    data = {"maxDigits": 7, "timeout": 300_000, "digitTimeout": 300_000}
    gather = {"type": "gather", "data": data}
    async with Phone.agent(two.nodes[1 - home], AGENT) as agent:
        node = two.nodes[home].name
        call = await two.call(to=f"agent:{AGENT}", node=node, action=gather)
        await agent.wait_answered()
        await two.lab(home).wait_for_state(call, "gathering")
        await agent.press("1223", hold_ms=60, gap_ms=60)
        await agent.press("4", hold_ms=500)
        await agent.press("56", hold_ms=60, gap_ms=60)
        gathered = await two.engine.wait_for_event(call, "gathered")
        assert (gathered["dtmf"], gathered["reason"]) == ("1223456", "max-digits")
        await agent.wait_ended()


@BOTH_WAYS
async def test_a_withheld_number_stays_withheld(two: TwoNodes, home: int) -> None:
    """The nodes trust each other with it, and the phone does not get it."""
    headers = ("P-Asserted-Identity: <sip:+4790000777@127.0.0.1>", "Privacy: id")
    lab = two.lab(home)
    number = await lab.add_number(dial())
    async with (
        Phone.agent(two.nodes[1 - home], AGENT) as agent,
        Phone.calling(lab.pbx, number, headers=headers, tone_hz=700) as caller,
    ):
        await agent.until_hears(700)
        await caller.hang_up()
        assert agent.caller_id == "anonymous"
        assert not [each.text for each in agent.messages if "90000777" in each.text]


@BOTH_WAYS
async def test_a_call_that_an_agent_starts_is_placed_at_the_phone(two: TwoNodes, home: int) -> None:
    """Whatever the weights; a call that must be at another node still reaches the phone."""
    async with Phone.agent(two.nodes[home], AGENT) as phone:
        call = await two.call(**{"from": f"agent:{AGENT}", "fromFirst": True, "action": None})
        await phone.wait_answered()
        assert node_of(call) == two.nodes[home].name
        await phone.hang_up()
        await two.lab(home).wait_ended(call)
    async with Phone.agent(two.nodes[home], AGENT) as phone:
        call = await two.call(to=f"agent:{AGENT}", node=two.nodes[1 - home].name)
        await phone.wait_answered()
        assert node_of(call) == two.nodes[1 - home].name


@BOTH_WAYS
@pytest.mark.parametrize("mode", ["attended", "blind"])
async def test_a_transfer_to_the_agent(two: TwoNodes, home: int, mode: str) -> None:
    """The customer and the agent are connected."""
    async with parties_at(two, home) as parties:
        await parties.connect()
        await parties.add_agent("target", AGENT, pbx=two.nodes[1 - home])
        transfer = Transfer(parties)
        await transfer.start(mode, target={"kind": "agent", "agentId": AGENT})
        if mode == "attended":
            await transfer.wait_for_state("answered")
            await parties.expect_audio(source="target", target="source", customer="music")
            await transfer.complete()
        await parties["source"].wait_ended()
        await parties.expect_audio(customer="target", target="customer")


@BOTH_WAYS
async def test_a_conference_with_the_agent(two: TwoNodes, home: int) -> None:
    """The agent joins; all hear all."""
    async with parties_at(two, home) as parties:
        await parties.connect()
        await parties.add_agent("target", AGENT, pbx=two.nodes[1 - home])
        conference = Conference(parties)
        await conference.add("target", targetExternalNumber=None, targetAgentIds=[AGENT])
        await parties.expect_audio(**all_hear_all("customer", "source", "target"))


async def test_a_ringing_phone_stops_when_the_call_ends(two: TwoNodes) -> None:
    """The caller's end cancels the phone's call at the other node."""
    port = free_port()
    await register(two.nodes[1], AGENT, port)
    async with Phone.ringing(port) as phone:
        call = await two.call(to=f"agent:{AGENT}", node="pbx1")
        await phone.wait_ringing()
        await two.engine.rpc("POST", f"/calls/{call}/hangup", {})
        await phone.wait_ended()


async def test_only_nodes_reach_the_trunk_between_nodes(two: TwoNodes) -> None:
    """A host that claims to be a node, without the password, does not reach a phone."""
    async with (
        Phone.agent(two.nodes[0], AGENT) as phone,
        Phone.calling(two.nodes[0], AGENT, caller="peers") as stranger,
    ):
        await until(lambda: stranger.status == 401, what="a challenge")
        assert phone.messages == []


async def test_a_node_calls_nothing_but_phones_for_another(two: TwoNodes) -> None:
    """Neither the trunk nor a further node can be called over the trunk between nodes."""
    for name in ("trunk", "peers", "+15550100", "1@trunk", "1009"):
        address = f"sip:{name.replace('@', '%40')}@127.0.0.1:{two.nodes[1].sip_port}"
        await two.nodes[0].cli(f"channel originate PJSIP/peers/{address} application Wait 1")
    for pbx in two.nodes:
        await until(partial(_has_no_channels, pbx), what="no channel")


async def _has_no_channels(pbx: Pbx) -> bool:
    return "0 active channels" in await pbx.cli("core show channels")


async def test_waiting_calls_are_placed_as_before(two: TwoNodes) -> None:
    """An agent without a registered phone does not hold its call back."""
    with pytest.raises(AssertionError, match="not refused"):
        await two.refusal(to="agent:1003", action=WAITS)
