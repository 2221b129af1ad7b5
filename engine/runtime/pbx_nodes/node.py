"""One PBX node: routes its events to its shards and handles its outages."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

import structlog
from msgspec import Struct
from msgspec.structs import replace

from engine.ari.events import timestamp_ms
from engine.ari.generated.events import ChannelDestroyed, StasisEnd, StasisStart
from engine.ari.generated.events import Event as AriEvent
from engine.ari.generated.models import Channel
from engine.calls.model import causes
from engine.calls.model.call import Call
from engine.calls.model.events import DigitPressed, Event, LegEnded, LegReplaced
from engine.calls.model.requests import ReferReceived
from engine.calls.recovery.missed_digits import DigitsByLeg, KeysDown
from engine.runtime.agents.account_agents import Caller
from engine.runtime.base.clock import Clock
from engine.runtime.base.interfaces import Pbx
from engine.runtime.pbx.ari_events import (
    is_engine_channel,
    stasis_arguments,
    subject_id,
    translate,
)
from engine.runtime.pbx.incoming_call_arguments import read_arguments, read_replacement
from engine.runtime.pbx_nodes.disconnect_grace import DisconnectGrace
from engine.runtime.pbx_nodes.recent_digits import EventDelay, RecentDigits
from engine.runtime.pbx_nodes.recovery import Recoveries, is_unknown
from engine.runtime.pbx_nodes.refers import PartyOf, Refers
from engine.runtime.shard.live_call import LiveCall
from engine.runtime.shard.outbound_leg_setup import CheckAgent, any_agent
from engine.runtime.shard.shard import CallShard, Replacement
from engine.runtime.streams.gateway_pool import Gateway


class IncomingChannel(Struct, frozen=True):
    """A new inbound channel, as its StasisStart event describes it."""

    channel: str
    from_: str  # as Asterisk shows it
    to: str
    is_up: bool = False  # already answered: by an earlier engine that lost the call
    endpoint: str = ""  # of the caller
    agent: Caller = Caller()  # the agent at that endpoint
    is_passed_on: bool = False  # by another engine, which had no room
    is_late_offer: bool = False  # its INVITE has no SDP: its ACK will
    arguments: Sequence[str] = ()  # of Stasis() after `inbound`, which `read_identity` reads


# Returns a node's recent digits on some legs, as other engines have heard them; raises nothing.
PeerDigits = Callable[[str, Sequence[str]], Awaitable[Sequence[DigitPressed]]]


# Hangs up a channel that has taken a place in a call, if its endpoint is another account's phone.
CheckReplacement = Callable[[CallShard, str, str], None]


def any_replacement(_shard: CallShard, _channel: str, _endpoint: str) -> None:
    """Hang up no channel: a `CheckReplacement` without a directory."""


async def no_peer_digits(_node: str, _legs: Sequence[str]) -> Sequence[DigitPressed]:
    """Return no digits: a `PeerDigits` without other engines."""
    return ()


class StreamReports(Protocol):
    """What the gateways of a node have reported of its streams; `ReportFeed` implements it."""

    async def wait_until_known(self) -> None:
        """Wait until each gateway has said what it has, or for READY_TIMEOUT_S."""

    def recover(self, shard: CallShard) -> None:
        """Repeat the reports of the streams of a shard's calls."""


class NoStreamReports:
    """A `StreamReports` of a node without gateways."""

    async def wait_until_known(self) -> None:
        """Wait for nothing."""

    def recover(self, shard: CallShard) -> None:
        """Repeat nothing."""


NO_STREAM_REPORTS = NoStreamReports()


log = structlog.get_logger()
MAX_LATENCY_MS = 150
# After an answer Asterisk reports no beginnings of keys for a second (docs/asterisk.md), so a key
# that was pressed again looks like a repeated one.
SILENT_BEGINNINGS_MS = 1_200
# A caller is answered before the call is stored (docs/decisions/0002). Calls that were given up are
# older: their node was disconnected for `node_grace_s`, half a minute by default.
READMITTED_MS = 10_000


class Node:
    """The shards of one PBX, by slot; implements `ShardHost`."""

    def __init__(  # noqa: PLR0913 - collaborators are passed in
        self,
        name: str,
        pbx: Pbx,
        clock: Clock,
        on_incoming: Callable[[CallShard, IncomingChannel], None],
        party_of: PartyOf,
        *,
        sip_address: str = "",
        check_agent: CheckAgent = any_agent,
        check_replacement: CheckReplacement = any_replacement,
        latency_ms: Callable[[], float] = lambda: 0.0,
        recent_digits: RecentDigits | None = None,
        peer_digits: PeerDigits = no_peer_digits,
        shards: dict[int, CallShard] | None = None,
        stream_reports: StreamReports = NO_STREAM_REPORTS,
        gateways: Sequence[Gateway] = (),
    ) -> None:
        self.name = name
        self.pbx = pbx
        self.sip_address = sip_address  # where the other nodes call its phones
        self.shards = {} if shards is None else shards
        self.gateways = gateways  # of its streams
        self.recent_digits = recent_digits or RecentDigits(clock)
        self._peer_digits = peer_digits
        self._clock = clock
        self._on_incoming = on_incoming
        self._check_replacement = check_replacement
        self._refers = Refers(clock, party_of, check_agent, self.shards)
        self._latency_ms = latency_ms
        self._event_delay = EventDelay()
        self._recoveries = Recoveries(
            pbx,
            clock,
            self.logged_digits,
            self._adopt_channel,
            self._learn_from_others,
            self._on_recovered,
        )
        self._stream_reports = stream_reports
        self._disconnect_grace = DisconnectGrace(pbx, clock, self._give_up)

    def add_shard(self, slot: int, shard: CallShard) -> None:
        self.shards[slot] = shard

    def pause_slot(self, slot: int) -> None:
        """Pause a shard whose slot another engine may own, without any conclusion from that."""
        self.shards[slot].mark_gap()
        self._recoveries.stop(slot)
        self._disconnect_grace.end(slot)

    def remove_shard(self, slot: int) -> None:
        """Retire a shard and leave its calls to the next owner of the slot."""
        if slot in self.shards:
            self.pause_slot(slot)
            self.shards.pop(slot).retire()

    @property
    def is_paused(self) -> bool:
        return any(shard.is_paused for shard in self.shards.values())

    @property
    def is_overloaded(self) -> bool:
        """Whether the node answers too slowly for a new call."""
        return self.latency_ms > MAX_LATENCY_MS

    @property
    def latency_ms(self) -> float:
        return self._latency_ms()

    @property
    def live_calls(self) -> int:
        return sum(len(shard.calls) for shard in self.shards.values())

    def logged_digits(self) -> DigitsByLeg:
        return self.recent_digits.digits

    def forget_digits(self, leg: str) -> None:
        self.recent_digits.forget(leg)

    def keys_down(self) -> KeysDown:
        return self.recent_digits.keys_down

    def change_clock(self, by_ms: int) -> None:
        """Move all times after the engine's clock was corrected."""
        self._event_delay.change_clock(by_ms)
        self.recent_digits.change_clock(by_ms)
        for shard in self.shards.values():
            shard.change_clock(by_ms)

    def on_event(self, slot: int, event: AriEvent) -> None:
        """Route an ARI event to its call, or take a new channel in."""
        shard = self.shards.get(slot)
        about = subject_id(event)
        if about is None or shard is None:
            return
        live_call = shard.find_by_channel(about)
        if live_call is not None:
            self._on_call_event(shard, live_call, event)
        elif isinstance(event, StasisStart) and not shard.is_left_alone(event.channel.id):
            if event.replace_channel is not None:
                self._take_place(shard, event.channel, event.replace_channel.id)
            else:
                self._accept_channel(shard, event.channel, event.args)
        elif isinstance(event, StasisEnd | ChannelDestroyed):
            shard.callers.discard(about)

    def _take_place(self, shard: CallShard, channel: Channel, replaced: str) -> None:
        """Let a channel take the place of a leg: Asterisk has replaced the channel of the leg.

        It does so when a phone connects the parties of two calls (REFER with Replaces), and the
        call of the REFER is controlled at another node, or when an INVITE with Replaces takes a
        leg over (docs/asterisk.md).
        """
        self._join(shard, LegReplaced(channel.id, replaced))
        self._check_replacement(shard, channel.id, _endpoint(channel))

    def _join(self, shard: CallShard, replacement: Replacement) -> None:
        """Pass a leg from outside a call to the call of the leg that it replaces."""
        live_call = shard.find_by_channel(replacement.replaced)
        if live_call is not None:
            with shard.guard(live_call, "replacement"):
                shard.join(live_call, replacement)
            self._refers.on_arrived(replacement.replaced)
        elif not shard.is_left_alone(replacement.replaced):
            shard.context.hang_up_channel(replacement.leg, causes.REJECTED)

    def _on_call_event(self, shard: CallShard, live_call: LiveCall, event: AriEvent) -> None:
        with shard.guard(live_call, "event"):
            now = self._clock.now_ms()
            delay_ms = self._event_delay.measure(timestamp_ms(event.timestamp), now)
            translated = translate(event, now - delay_ms)
            if isinstance(translated, ReferReceived):
                self._refers.on_refer(shard, live_call, translated)
            elif isinstance(translated, LegEnded):
                if delay_ms:  # the end counts, not when the engine had time for it
                    translated = replace(translated, seen_ms=now - delay_ms)
                self._refers.on_leg_ended(shard, live_call, translated)
            elif translated is not None and not self._is_repeated_key(live_call, translated):
                shard.feed(live_call, translated)

    def _is_repeated_key(self, live_call: LiveCall, event: Event) -> bool:
        if not isinstance(event, DigitPressed) or not self.recent_digits.is_repeat(event):
            return False
        leg = live_call.call.leg(event.leg)
        return leg is None or event.pressed_ms - leg.answered_ms > SILENT_BEGINNINGS_MS

    def on_connected(self, slot: int) -> None:
        """Recover a shard whose events arrive again."""
        self._disconnect_grace.end(slot)
        self._recoveries.begin(slot, self.shards[slot])

    def on_disconnected(self, slot: int, grace_ms: int, silent_ms: int = 0) -> None:
        """Pause a shard that has had no events for `silent_ms`; its calls end after the grace."""
        self.shards[slot].mark_gap(silent_ms)
        self._recoveries.stop(slot)
        self._disconnect_grace.begin(slot, grace_ms)

    def on_reply_lost(self, slot: int) -> None:
        shard = self.shards[slot]
        if slot not in self._recoveries and not shard.is_paused:
            shard.pause()
            self._recoveries.begin(slot, shard)

    def verify_call(self, call: str) -> None:
        """Compare the shard of a call with the PBX again."""
        for slot, shard in self.shards.items():
            if call in shard.calls:
                self.on_reply_lost(slot)

    async def close(self) -> None:
        """Stop, and leave all calls to the next owner."""
        await self._disconnect_grace.close()
        await self._recoveries.close()

    async def _learn_from_others(self, calls: Sequence[Call]) -> None:
        """Learn the digits that only other engines have heard, and what gateways have.

        A gateway tells an engine that has just started what it has. Without that, a stream whose
        channel has ended would be lost with what its bot or recognizer said last.
        """
        if any(call.streams for call in calls):
            await self._stream_reports.wait_until_known()
        legs = [leg.id for call in calls for leg in call.legs]
        if legs and not self.recent_digits.is_complete:
            self.recent_digits.add_missed(await self._peer_digits(self.name, legs))

    def _on_recovered(self, shard: CallShard) -> None:
        self._refers.on_recovered(shard)
        self._stream_reports.recover(shard)

    def _give_up(self, slot: int) -> None:
        shard = self.shards[slot]
        log.error("node lost", node=self.name, slot=slot, calls=len(shard.calls))
        shard.context.metrics.calls.lost.table(self.name)[str(slot)] += len(shard.calls)
        for live_call in list(shard.calls.values()):
            # The main leg comes last, even if it has ended: then no call waits for its recordings.
            legs = [*(leg.id for leg in live_call.call.legs), live_call.call.main]
            seen_ms = shard.last_seen_ms
            lost = tuple(LegEnded(leg, causes.LOST, seen_ms=seen_ms) for leg in legs)
            shard.recover_call(live_call, (), lost)

    def _adopt_channel(self, shard: CallShard, channel: Channel) -> None:
        if not is_unknown(shard, channel):
            live_call = shard.foreign.get(channel.id)
            leg = live_call.call.leg(channel.id) if live_call is not None else None
            if leg is not None and leg.replaces:  # it may have taken its place meanwhile
                self._check_replacement(shard, channel.id, _endpoint(channel))
            return
        args = stasis_arguments(channel)
        if channel.state == "Up" and not self._is_new(channel, args):
            # An answered channel is no new caller: its call was given up.
            shard.context.hang_up_channel(channel.id)
        else:
            self._accept_channel(shard, channel, args)

    def _is_new(self, channel: Channel, args: list[str]) -> bool:
        """Return whether a caller was answered just now, by an engine that has lost the call."""
        age_ms = self._clock.now_ms() - timestamp_ms(channel.creationtime)
        # A PBX whose clock is wrong tells nothing about the age.
        return args[:1] == ["inbound"] and abs(age_ms) < READMITTED_MS

    def _accept_channel(self, shard: CallShard, channel: Channel, args: list[str]) -> None:
        if replacement := read_replacement(channel.id, args):
            self._join(shard, replacement)
        elif is_engine_channel(channel.id) or args[:1] != ["inbound"]:
            shard.context.hang_up_channel(channel.id)
        else:
            known = read_arguments(args[1:])
            incoming = IncomingChannel(
                channel=channel.id,
                from_=channel.caller.number,
                to=known.dialled or channel.dialplan.exten,
                is_up=channel.state == "Up",
                endpoint=_endpoint(channel),
                is_passed_on=known.is_passed_on,
                is_late_offer=known.is_late_offer,
                arguments=args[1:],
            )
            self._on_incoming(shard, incoming)


def _endpoint(channel: Channel) -> str:
    """Return the endpoint of a channel, as PJSIP/1001 of PJSIP/1001-0000abcd."""
    return channel.name.rpartition("-")[0]
