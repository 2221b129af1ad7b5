"""REFERs of phones, many of which hang up at once, without waiting for the outcome.

A REFER reaches its call before the end of the phone's leg, so that the call goes on without the
phone. A REFER with Replaces ends two legs in two calls: the one that it replaces ends for its call
after the arrival of the leg that takes its place.
"""

import re
from collections.abc import Callable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from engine.calls.model.call import Call
from engine.calls.model.events import LegEnded
from engine.calls.model.requests import ReferReceived
from engine.calls.sessions.replacement import other_party
from engine.runtime.base.clock import Clock
from engine.runtime.shard.live_call import LiveCall
from engine.runtime.shard.outbound_leg_setup import CheckAgent, check_target
from engine.runtime.shard.shard import CallShard
from wire.call_id_format import call_of
from wire.decoding.patterns import PARTY
from wire.party import Party

NOT_AN_AGENT = "not_an_agent"
PartyOf = Callable[[str, str], str]  # what an account's phone dials by a number
ARRIVAL_TIMEOUT_MS = 2_000  # it takes about 10 ms, if this engine owns the slots of both calls


def no_extensions(_account: str, number: str) -> str:
    """Take no number for an agent's extension: a `PartyOf` without agents."""
    return number


class _Arrival(Struct):
    """An expected arrival of a leg that takes the place of another, which may have ended."""

    sender: str  # the leg of the REFER's call through which it is sent
    ends: list[tuple[CallShard, LegEnded]] = []


class Refers:
    """The REFERs of one PBX node that are not settled yet."""

    def __init__(
        self,
        clock: Clock,
        party_of: PartyOf,
        check_agent: CheckAgent,
        shards: Mapping[int, CallShard],
    ) -> None:
        self._clock = clock
        self._shards = shards
        self._party_of = party_of
        self._check_agent = check_agent
        self._unchecked: dict[str, ReferReceived] = {}  # by leg
        self._arrivals: dict[str, _Arrival] = {}  # by the leg that is replaced

    def on_refer(self, shard: CallShard, live_call: LiveCall, refer: ReferReceived) -> None:
        """Feed a REFER to its call, once it is known whether its target can be called.

        Only agents of the call's account may transfer, and phones behind a trunk that is trusted
        with it: anyone else would call at the account's cost.
        The party of a REFER with Replaces is not called: it is one of another call.
        """
        party = self._party_of(live_call.call.account, refer.party)
        # A name that is not an agent's cannot be called.
        refer = replace(refer, party=party if re.search(PARTY, party) else "")
        is_trusted = shard.context.endpoints.trunk_refers
        if not (is_trusted or _is_of_agent(live_call.call, refer.leg)):
            shard.feed(live_call, replace(refer, party="", replaces=False, rejection=NOT_AN_AGENT))
        elif refer.replaces:
            party = self._other_party(live_call.call.account, refer)
            shard.feed(live_call, replace(refer, party=party))
            self._expect_arrival(live_call, refer)
        elif refer.leg not in self._unchecked:  # Asterisk notifies the phone of an outcome for both
            self._check(shard, live_call, refer)

    def on_leg_ended(self, shard: CallShard, live_call: LiveCall, ended: LegEnded) -> None:
        """Feed the end of a leg: after its REFER, and after the arrival that replaces it."""
        if refer := self._unchecked.pop(ended.leg, None):
            shard.feed(live_call, refer)  # an impossible target fails when it is called
        if arrival := self._arrivals.get(ended.leg):
            arrival.ends.append((shard, ended))
            return
        shard.feed(live_call, ended)
        for leg in [leg for leg, each in self._arrivals.items() if each.sender == ended.leg]:
            self.on_arrived(leg)  # the calls can't be joined

    def on_recovered(self, shard: CallShard) -> None:
        """Forget the REFERs of agents that are being checked: a recovery has declined them."""
        for leg_id in list(self._unchecked):
            live_call = shard.find_by_channel(leg_id)
            leg = live_call.call.leg(leg_id) if live_call is not None else None
            if leg is not None and leg.agent_id:
                del self._unchecked[leg_id]

    def on_arrived(self, replaced: str) -> None:
        """Feed the end of a leg whose place is taken."""
        arrival = self._arrivals.pop(replaced, None)
        for shard, ended in arrival.ends if arrival else ():
            if live_call := shard.find_by_channel(replaced):
                shard.feed(live_call, ended)

    def _other_party(self, account: str, refer: ReferReceived) -> str:
        """Return the party of the phone's other call; if that is unknown, the number in the REFER.

        The engine's own record comes first, as a phone can send any number.
        """
        found = filter(
            None, (each.find_by_channel(refer.replaced) for each in self._shards.values())
        )
        calls = (each.call for each in found if each.call.account == account)
        return next((other_party(call, refer.replaced) for call in calls), refer.party)

    def _check(self, shard: CallShard, live_call: LiveCall, refer: ReferReceived) -> None:
        def checked(rejection: str) -> None:
            checked_call = shard.find_by_channel(refer.leg)
            if self._unchecked.pop(refer.leg, None) and checked_call is not None:
                shard.feed(checked_call, replace(refer, rejection=rejection))

        self._unchecked[refer.leg] = refer
        endpoints = shard.context.endpoints
        check_target(endpoints, live_call.call, refer.party, self._check_agent, checked)

    def _expect_arrival(self, live_call: LiveCall, refer: ReferReceived) -> None:
        transfer = live_call.call.transfer
        target = live_call.call.leg(transfer.target) if transfer else None
        if target is None or target.state == "up" or target.replaces != refer.replaced:
            return  # it is declined
        arrival = self._arrivals[refer.replaced] = _Arrival(target.id)

        def give_up() -> None:
            if self._arrivals.get(refer.replaced) is arrival:
                self.on_arrived(refer.replaced)

        self._clock.call_at(self._clock.now_ms() + ARRIVAL_TIMEOUT_MS, give_up)


def _is_of_agent(call: Call, leg_id: str) -> bool:
    """Return whether a leg is an agent's: called as one, or known by the endpoint it calls from.

    A request may name an agent for a number that it dials, which proves nothing.
    """
    leg = call.leg(leg_id)
    if leg is None:
        return False
    is_incoming = call_of(leg.id) is None
    return Party.parse(leg.party).agent_id is not None or bool(is_incoming and leg.agent_id)
