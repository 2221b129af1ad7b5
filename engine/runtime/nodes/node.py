"""One PBX node: its events to its desks, its comings and goings."""

from collections.abc import Callable
from functools import partial

import structlog
from msgspec.structs import replace

from engine.ari.generated.events import Event as AriEvent
from engine.ari.generated.events import StasisStart
from engine.ari.generated.models import Channel
from engine.calls.model import causes
from engine.calls.model.events import LegEnded
from engine.calls.model.requests import ReferReceived
from engine.calls.recovery.dtmf import DigitsByLeg
from engine.runtime.base.clock import Clock
from engine.runtime.base.ports import Pbx
from engine.runtime.nodes.disconnects import DisconnectGrace
from engine.runtime.nodes.dtmf_log import DtmfLog
from engine.runtime.nodes.incoming import IncomingChannel
from engine.runtime.nodes.recovery import Recoveries
from engine.runtime.pbx.ari_events import is_engine_channel, subject_id, translate
from engine.runtime.shard.shard import CallShard

log = structlog.get_logger()
MAX_LATENCY_MS = 150
REFER_DELAY_MS = (
    50  # asked within a millisecond of telling it, Asterisk 22.10 crashes (docs/asterisk.md)
)


class Node:
    """The desks of one PBX, one for each slot, and what is heard on them."""

    def __init__(  # noqa: PLR0913, PLR0917 - collaborators are passed in
        self,
        name: str,
        pbx: Pbx,
        desks: dict[int, CallShard],
        clock: Clock,
        arrive: Callable[[CallShard, IncomingChannel], None],
        strain_ms: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self.name = name
        self.shards = desks
        self.pbx = pbx
        self._clock = clock
        self._on_incoming = arrive
        self._latency_ms = strain_ms
        self.party_of: Callable[[str], str] = lambda number: number  # whom a phone means
        self.dtmf_log = DtmfLog(clock)
        self._recoveries = Recoveries(pbx, clock, self._logged_digits, self._adopt_channel)
        self._disconnect_grace = DisconnectGrace(pbx, clock, self._give_up)
        for slot, desk in desks.items():
            self.add_shard(slot, desk)

    def add_shard(self, slot: int, desk: CallShard) -> None:
        """Open a desk."""
        self.shards[slot] = desk
        desk.on_doubt = partial(self._on_reply_lost, slot)
        desk.overheard = self._logged_digits

    def pause_slot(self, slot: int) -> None:
        """Hold a desk that may be another's by now; nothing is concluded from that."""
        self.shards[slot].pause_buffer.mark_gap()
        self._recoveries.stop(slot)
        self._disconnect_grace.end(slot)

    def remove_shard(self, slot: int) -> None:
        """Close a desk, and leave its calls to whoever has the slot."""
        if slot in self.shards:
            self.pause_slot(slot)
            self.shards.pop(slot).retire()

    @property
    def is_paused(self) -> bool:
        """Whether not all of it can be heard."""
        return any(desk.is_paused for desk in self.shards.values())

    @property
    def is_overloaded(self) -> bool:
        """Whether it answers so slowly that it should get no new call."""
        return self.latency_ms > MAX_LATENCY_MS

    @property
    def latency_ms(self) -> float:
        """How long it takes to answer, of late."""
        return self._latency_ms()

    @property
    def live_calls(self) -> int:
        """How many calls live on it."""
        return sum(len(desk.actors) for desk in self.shards.values())

    def on_event(self, slot: int, event: AriEvent) -> None:
        """Bring an event to its call."""
        desk = self.shards.get(slot)
        about = subject_id(event)
        if about is None or desk is None:
            return
        actor = desk.find_by_channel(about)
        if actor is not None:
            meant = translate(event, self._clock.now_ms())
            if isinstance(meant, ReferReceived):
                self._refer(desk, meant)
            elif meant is not None:
                desk.feed(actor, meant)
        elif isinstance(event, StasisStart):
            self._accept_channel(desk, event.channel, event.args)

    def on_connected(self, slot: int) -> None:
        """Recover a desk whose events can be heard again."""
        self._disconnect_grace.end(slot)
        self._recoveries.begin(slot, self.shards[slot])

    def on_disconnected(self, slot: int, grace_ms: int) -> None:
        """Hold a desk whose events are not heard; its calls are lost when that lasts."""
        self.shards[slot].pause_buffer.mark_gap()
        self._recoveries.stop(slot)
        self._disconnect_grace.begin(slot, grace_ms)

    def verify_call(self, call: str) -> None:
        """Compare the desk of a call with the PBX again."""
        for slot, desk in self.shards.items():
            if call in desk.actors:
                self._on_reply_lost(slot)

    async def close(self) -> None:
        """Leave everything as it is, for the next owner."""
        await self._disconnect_grace.close()
        await self._recoveries.close()

    def _logged_digits(self) -> DigitsByLeg:
        return self.dtmf_log.digits

    def _refer(self, desk: CallShard, referred: ReferReceived) -> None:
        """Bring a phone's REFER to its call when the PBX is ready for the answer."""

        def ready() -> None:
            if actor := desk.find_by_channel(referred.leg):
                party = self.party_of(referred.party)
                desk.feed(actor, replace(referred, party=party))

        self._clock.call_at(self._clock.now_ms() + REFER_DELAY_MS, ready)

    def _give_up(self, slot: int) -> None:
        desk = self.shards[slot]
        log.error("node lost", node=self.name, slot=slot, calls=len(desk.actors))
        desk.context.meter.calls.lost.table(self.name)[str(slot)] += len(desk.actors)
        for actor in list(desk.actors.values()):
            # Last its main one, also where it is gone: what waits for recordings waits no more.
            legs = [*(leg.id for leg in actor.call.legs), actor.call.main]
            desk.recover_call(actor, (), tuple(LegEnded(leg, causes.LOST) for leg in legs))

    def _on_reply_lost(self, slot: int) -> None:
        desk = self.shards[slot]
        if slot not in self._recoveries and not desk.is_paused:
            desk.pause()
            self._recoveries.begin(slot, desk)

    def _adopt_channel(self, desk: CallShard, channel: Channel) -> None:
        app, *args = channel.dialplan.app_data.split(",")
        is_here = channel.dialplan.app_name == "Stasis" and app == desk.context.endpoints.app
        if not is_here or desk.find_by_channel(channel.id) is not None:
            return
        if channel.state == "Up":
            # Whoever was answered is no new caller: the call was given up.
            desk.context.hang_up_channel(channel.id)
        else:
            self._accept_channel(desk, channel, args)

    def _accept_channel(self, desk: CallShard, channel: Channel, args: list[str]) -> None:
        if is_engine_channel(channel.id) or args[:1] != ["inbound"]:
            desk.context.hang_up_channel(channel.id)
        else:
            called = args[1] if len(args) > 1 else channel.dialplan.exten
            endpoint = channel.name.rpartition("-")[0]  # PJSIP/1001-0000abcd
            is_up = channel.state == "Up"
            self._on_incoming(
                desk, IncomingChannel(channel.id, channel.caller.number, called, is_up, endpoint)
            )
