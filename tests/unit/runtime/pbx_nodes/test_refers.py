"""Phones that send REFER, and may hang up before anything else happens."""

from collections.abc import Callable, Collection
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from engine.ari.request import Reply
from engine.calls.model.events import LegAnswered
from engine.calls.model.requests import HangupRequested, ReferReceived
from engine.calls.model.storage_format import decode_log_entry
from engine.runtime.pbx_nodes.refers import ARRIVAL_TIMEOUT_MS
from engine.runtime.shard.live_call import LiveCall
from engine.runtime.shard.refer_answers import ANSWER_DELAY_MS
from tests.harness.calls.builders import CHANNEL, ID, MAIN, inbound
from tests.harness.runtime.ari_messages import ari, channel, refer, refer_to_call
from tests.harness.runtime.inbound_node import (
    BRIDGE,
    InboundNode,
    inbound_node,
    start_conversation,
)
from tests.harness.until import until
from wire.call_id_format import other_half

PEER = f"{ID}.l1"
SECOND = "0-pbx1-otherone"


def hangs_up(leg: str = MAIN) -> Any:
    """Make the event of a phone that hangs up."""
    return ari("ChannelDestroyed", channel=channel(leg), cause=16, cause_txt="")


def ends(leg: str) -> Any:
    """Make the event of an inbound leg that ends."""
    return ari("StasisEnd", channel=channel(leg))


def states(live_call: LiveCall) -> list[tuple[str, str]]:
    """Return party and state of the transfers of a call."""
    return [(each.party, each.state) for each in live_call.call.transfers]


def answers(at: InboundNode) -> list[str]:
    """Return the answers to REFERs that were sent and not replied to."""
    sent = [each.request.query for each in at.scene.pbx.sent if "progress" in each.line]
    return [value for query in sent for _name, value in query]


async def test_a_refer_to_an_extension_is_a_transfer_to_its_agent() -> None:
    """The transfer starts at once; the answer waits until the PBX can take it."""
    async with inbound_node() as at:
        at.party_of = lambda number: f"agent:{number}"
        live_call = start_conversation(at)
        at.node.on_event(0, refer(destination="1002"))
        assert states(live_call) == [("agent:1002", "starting")]
        at.scene.clock.pass_ms(ANSWER_DELAY_MS - 1)
        assert answers(at) == []
        at.scene.clock.pass_ms(1)
        assert answers(at) == ["channel_progress"]


@pytest.mark.parametrize(
    ("agents", "answer"), [({"anna"}, "channel_progress"), ((), "channel_declined")]
)
async def test_a_refer_to_a_name(agents: Collection[str], answer: str) -> None:
    """It is one of an agent, whose id it is, or it is declined."""
    async with inbound_node() as at:
        at.party_of = lambda number: f"agent:{number}" if number in agents else number
        live_call = start_conversation(at)
        at.node.on_event(0, refer(destination="anna"))
        at.scene.clock.pass_ms(ANSWER_DELAY_MS)
        assert states(live_call) == [("agent:anna", "starting")] * len(agents)
        assert answers(at) == [answer]


@pytest.mark.parametrize("rejection", ["agent_offline", ""])
async def test_a_refer_is_checked_beforehand(rejection: str) -> None:
    """A REFER to an offline agent is declined (603); both parties stay connected."""

    def check(account: str, agent_id: str, done: Callable[[str], None]) -> None:
        assert (account, agent_id) == ("acme", "1002")
        done(rejection)

    async with inbound_node() as at:
        at.party_of = lambda number: f"agent:{number}"
        at.check_agent = check
        live_call = start_conversation(at)
        at.node.on_event(0, refer(destination="1002"))
        at.scene.clock.pass_ms(ANSWER_DELAY_MS)
        assert answers(at) == ["channel_declined" if rejection else "channel_progress"]
        assert bool(live_call.call.transfers) == (not rejection)


async def test_a_caller_who_is_no_agent_can_not_transfer() -> None:
    """It would be at the cost of the account that is called: the party is not even kept."""
    async with inbound_node() as at:
        at.party_of = lambda number: f"agent:{number}"
        live_call = at.scene.shard.start_call(
            inbound({"type": "dial", "data": {"number": "+4712345678"}})
        )
        for event in (LegAnswered(CHANNEL), LegAnswered(f"{ID}.l0")):
            at.scene.shard.feed(live_call, event)
        at.scene.pbx.settle()
        at.node.on_event(0, refer(CHANNEL, destination="1002"))
        at.scene.clock.pass_ms(ANSWER_DELAY_MS)
        assert answers(at) == ["channel_declined"]
        assert not live_call.call.transfers
        (rejected,) = (
            entry.event
            for change in at.scene.writer.changes
            for entry in map(decode_log_entry, change.log[-1:])
            if isinstance(entry.event, ReferReceived)
        )
        assert (rejected.party, rejected.rejection) == ("", "not_an_agent")


@pytest.mark.parametrize("is_dropped", [False, True])
async def test_a_refer_that_a_recovery_declines_is_not_accepted_later(*, is_dropped: bool) -> None:
    """Its target was being checked: the phone is notified of one outcome, unless it has left."""
    checks: list[Callable[[str], None]] = []
    async with inbound_node() as at:
        at.party_of = lambda number: f"agent:{number}"
        at.check_agent = lambda _account, _agent, done: checks.append(done)
        live_call = start_conversation(at)
        (agent, customer) = (replace(each, agent_id=each.agent) for each in live_call.call.legs)
        live_call.call = replace(live_call.call, legs=(agent, customer))
        at.node.on_event(0, refer(destination="1002"))
        at.shows(*(channel(leg.id, "Up") for leg in live_call.call.legs))
        bridge = {**BRIDGE, "id": f"{MAIN}b", "channels": [agent.id, customer.id]}
        at.scene.pbx.shows["bridges"] = Reply(200, msgspec.json.encode([bridge]))
        if is_dropped:
            with at.scene.shard.guard(live_call, "test"):
                raise ValueError
        at.node.on_reply_lost(0)
        await until(lambda: not at.node.is_paused, every_s=0.001)
        at.scene.clock.pass_ms(ANSWER_DELAY_MS)
        (check,) = checks
        check("")
        at.scene.clock.pass_ms(ANSWER_DELAY_MS)
        assert answers(at) == ["channel_declined"] * (not is_dropped)
        assert at.scene.shard.context.metrics.nodes.recovery_duration.count == 1
        assert live_call.call.transfers == ()


@pytest.mark.parametrize("is_checked", [True, False])
async def test_a_phone_that_hangs_up_at_once(is_checked: bool) -> None:
    """The call goes on without it, also while the target is being checked."""
    checks: list[Callable[[str], None]] = []
    async with inbound_node() as at:
        at.party_of = lambda number: f"agent:{number}"
        at.check_agent = lambda _account, _agent, done: checks.append(done)
        live_call = start_conversation(at)
        at.node.on_event(0, refer(destination="1002"))
        if is_checked:
            checks.pop()("")
        at.node.on_event(0, hangs_up())
        assert states(live_call) == [("agent:1002", "starting")]
        assert (live_call.call.main, live_call.call.transfers[0].mode) == (PEER, "blind")
        at.scene.clock.pass_ms(ANSWER_DELAY_MS)
        assert answers(at) == []
        for done in checks:
            done("agent_offline")  # too late: the target is being called
        assert states(live_call) == [("agent:1002", "starting")]


async def test_a_second_refer_while_the_first_is_checked() -> None:
    """The phone gets the outcome of the first one."""
    checks: list[Callable[[str], None]] = []
    async with inbound_node() as at:
        at.party_of = lambda number: f"agent:{number}"
        at.check_agent = lambda _account, _agent, done: checks.append(done)
        live_call = start_conversation(at)
        at.node.on_event(0, refer(destination="1002"))
        at.node.on_event(0, refer(destination="1003"))
        assert len(checks) == 1
        checks[0]("")
        assert states(live_call) == [("agent:1002", "starting")]


async def test_a_refer_to_another_call() -> None:
    """Its party is not checked as one to dial: it is connected by a Local channel."""
    async with inbound_node() as at:
        at.check_agent = lambda *_: pytest.fail("checked")
        live_call = start_conversation(at)
        before = at.scene.pbx.lines.count("POST channels/create")
        at.node.on_event(0, refer_to_call())
        at.scene.pbx.settle()
        assert states(live_call) == [("456", "starting")]
        assert at.scene.pbx.lines.count("POST channels/create") == before + 1


class TwoCalls:
    """A phone that talks in two calls: it has sent REFER to connect its two other parties."""

    def __init__(self, at: InboundNode, **changes: Any) -> None:
        self._at = at
        self.first = start_conversation(at)
        dial = {"type": "dial", "data": {"number": "+4712345678"}}
        shard = at.scene.shard
        self.second = shard.start_call(replace(inbound(dial), id=SECOND, **changes))
        shard.feed(self.second, LegAnswered(CHANNEL))
        shard.feed(self.second, LegAnswered(self.second.call.legs[-1].id))
        at.scene.pbx.settle()
        at.node.on_event(0, refer_to_call())
        at.scene.pbx.settle()

    @property
    def sent(self) -> str:
        """The leg that the first call sends to the second one."""
        return other_half(self.first.call.transfers[-1].target)

    def arrives(self) -> None:
        """Let the leg arrive that the first call has sent."""
        entered, args = channel(self.sent, "Ring"), ["replaces", CHANNEL, "acme", ""]
        self._at.node.on_event(0, ari("StasisStart", channel=entered, args=args))


@pytest.mark.parametrize(
    ("account", "privacy", "party"),
    [("acme", "", "+4712345678"), ("acme", "id", "+4712345678"), ("other", "", "456")],
)
async def test_a_refer_to_another_call_names_its_party(
    account: str, privacy: str, party: str
) -> None:
    """The other party of that call, if the account is the same."""
    async with inbound_node() as at:
        calls = TwoCalls(at, account=account, privacy=privacy)
        assert states(calls.first) == [(party, "starting")]
        target = calls.first.call.leg(calls.first.call.transfers[0].target)
        assert target is not None
        assert target.party == party


async def test_the_replaced_leg_ends_after_the_arrival() -> None:
    """A phone that hangs up both lines at once loses neither party: they wait for each other."""
    async with inbound_node() as at:
        calls = TwoCalls(at)
        at.node.on_event(0, ends(CHANNEL))
        at.node.on_event(0, hangs_up())
        assert calls.second.call.is_up(CHANNEL)
        calls.arrives()
        assert calls.second.call.leg(CHANNEL) is None
        assert calls.second.call.main == calls.second.call.transfers[0].customer
        at.node.on_event(0, ari("ChannelStateChange", channel=channel(calls.sent, "Up")))
        target = calls.first.call.transfers[0].target
        at.node.on_event(0, ari("ChannelStateChange", channel=channel(target, "Up")))
        for live_call in (calls.first, calls.second):
            assert [state for _, state in states(live_call)] == ["blind_transferred"]
            assert [leg.state for leg in live_call.call.legs] == ["up", "up"]


async def test_the_leg_that_replaces_does_not_arrive() -> None:
    """The end of the phone's leg takes effect after a while."""
    async with inbound_node() as at:
        calls = TwoCalls(at)
        at.node.on_event(0, ends(CHANNEL))
        at.scene.clock.pass_ms(ARRIVAL_TIMEOUT_MS - 1)
        assert calls.second.call.is_up(CHANNEL)
        at.scene.clock.pass_ms(1)
        assert calls.second.call.leg(CHANNEL) is None


async def test_the_calls_can_not_be_joined() -> None:
    """The first call has no target any more, so nothing will arrive."""
    async with inbound_node() as at:
        calls = TwoCalls(at)
        at.node.on_event(0, ends(CHANNEL))
        at.node.on_event(0, hangs_up(calls.first.call.transfers[0].target))
        assert calls.second.call.leg(CHANNEL) is None


async def test_a_declined_refer_delays_no_end() -> None:
    """The first call is in no conversation any more."""
    async with inbound_node() as at:
        calls = TwoCalls(at)
        calls.arrives()
        at.node.on_event(0, hangs_up(calls.first.call.transfers[0].target))
        at.scene.shard.feed(calls.first, HangupRequested("api"))
        at.node.on_event(0, refer_to_call())
        at.node.on_event(0, ends(CHANNEL))
        assert calls.second.call.leg(CHANNEL) is None
