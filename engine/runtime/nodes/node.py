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
from engine.calls.model.requests import TransferReferred
from engine.calls.recovery.dtmf import Heard
from engine.runtime.admission.routes import IncomingChannel
from engine.runtime.base.clock import Clock
from engine.runtime.base.ports import Pbx
from engine.runtime.nodes.disconnects import DisconnectGrace
from engine.runtime.nodes.dtmf_log import DtmfLog
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
        self.desks = desks
        self.pbx = pbx
        self._clock = clock
        self._arrive = arrive
        self._strain_ms = strain_ms
        self.party_of: Callable[[str], str] = lambda number: number  # whom a phone means
        self.overheard = DtmfLog(clock)
        self._recoveries = Recoveries(pbx, clock, self._heard_over_ami, self._claim)
        self._absences = DisconnectGrace(pbx, clock, self._give_up)
        for slot, desk in desks.items():
            self.add(slot, desk)

    def add(self, slot: int, desk: CallShard) -> None:
        """Open a desk."""
        self.desks[slot] = desk
        desk.on_doubt = partial(self._doubt, slot)
        desk.overheard = self._heard_over_ami

    def rest(self, slot: int) -> None:
        """Hold a desk that may be another's by now; nothing is concluded from that."""
        self.desks[slot].standstill.miss()
        self._recoveries.stop(slot)
        self._absences.end(slot)

    def remove(self, slot: int) -> None:
        """Close a desk, and leave its calls to whoever has the slot."""
        if slot in self.desks:
            self.rest(slot)
            self.desks.pop(slot).retire()

    @property
    def is_away(self) -> bool:
        """Whether not all of it can be heard."""
        return any(desk.is_held for desk in self.desks.values())

    @property
    def is_strained(self) -> bool:
        """Whether it answers so slowly that it should get no new call."""
        return self.strain_ms > MAX_LATENCY_MS

    @property
    def strain_ms(self) -> float:
        """How long it takes to answer, of late."""
        return self._strain_ms()

    @property
    def live(self) -> int:
        """How many calls live on it."""
        return sum(len(desk.actors) for desk in self.desks.values())

    def heard(self, slot: int, event: AriEvent) -> None:
        """Bring an event to its call."""
        desk = self.desks.get(slot)
        about = subject_id(event)
        if about is None or desk is None:
            return
        actor = desk.route(about)
        if actor is not None:
            meant = translate(event, self._clock.now_ms())
            if isinstance(meant, TransferReferred):
                self._refer(desk, meant)
            elif meant is not None:
                desk.feed(actor, meant)
        elif isinstance(event, StasisStart):
            self._enter(desk, event.channel, event.args)

    def back(self, slot: int) -> None:
        """Recover a desk whose events can be heard again."""
        self._absences.end(slot)
        self._recoveries.begin(slot, self.desks[slot])

    def lost(self, slot: int, grace_ms: int) -> None:
        """Hold a desk whose events are not heard; its calls are lost when that lasts."""
        self.desks[slot].standstill.miss()
        self._recoveries.stop(slot)
        self._absences.begin(slot, grace_ms)

    def recheck(self, call: str) -> None:
        """Compare the desk of a call with the PBX again."""
        for slot, desk in self.desks.items():
            if call in desk.actors:
                self._doubt(slot)

    async def close(self) -> None:
        """Leave everything as it is, for the next owner."""
        await self._absences.close()
        await self._recoveries.close()

    def _heard_over_ami(self) -> Heard:
        return self.overheard.keys

    def _refer(self, desk: CallShard, referred: TransferReferred) -> None:
        """Bring a phone's REFER to its call when the PBX is ready for the answer."""

        def ready() -> None:
            if actor := desk.route(referred.leg):
                party = self.party_of(referred.party)
                desk.feed(actor, replace(referred, party=party))

        self._clock.call_at(self._clock.now_ms() + REFER_DELAY_MS, ready)

    def _give_up(self, slot: int) -> None:
        desk = self.desks[slot]
        log.error("node lost", node=self.name, slot=slot, calls=len(desk.actors))
        desk.place.meter.calls.given_up.of(self.name)[str(slot)] += len(desk.actors)
        for actor in list(desk.actors.values()):
            # Last its main one, also where it is gone: what waits for recordings waits no more.
            legs = [*(leg.id for leg in actor.call.legs), actor.call.main]
            desk.resume(actor, (), tuple(LegEnded(leg, causes.LOST) for leg in legs))

    def _doubt(self, slot: int) -> None:
        desk = self.desks[slot]
        if slot not in self._recoveries and not desk.is_held:
            desk.hold()
            self._recoveries.begin(slot, desk)

    def _claim(self, desk: CallShard, channel: Channel) -> None:
        app, *args = channel.dialplan.app_data.split(",")
        is_here = channel.dialplan.app_name == "Stasis" and app == desk.place.plan.app
        if not is_here or desk.route(channel.id) is not None:
            return
        if channel.state == "Up":
            # Whoever was answered is no new caller: the call was given up.
            desk.place.dismiss(channel.id)
        else:
            self._enter(desk, channel, args)

    def _enter(self, desk: CallShard, channel: Channel, args: list[str]) -> None:
        if is_engine_channel(channel.id) or args[:1] != ["inbound"]:
            desk.place.dismiss(channel.id)
        else:
            called = args[1] if len(args) > 1 else channel.dialplan.exten
            endpoint = channel.name.rpartition("-")[0]  # PJSIP/1001-0000abcd
            is_up = channel.state == "Up"
            self._arrive(
                desk, IncomingChannel(channel.id, channel.caller.number, called, is_up, endpoint)
            )
