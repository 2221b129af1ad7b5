"""One PBX node: its events to its desks, its comings and goings, and its recovery."""

import asyncio
from collections.abc import Callable
from functools import partial

import structlog
from msgspec.structs import replace

from engine.ari.generated.events import Event as AriEvent
from engine.ari.generated.events import StasisStart
from engine.ari.generated.models import Channel
from engine.calls import causes
from engine.calls.events import LegEnded, TransferReferred
from engine.calls.keys import unknown
from engine.calls.playbacks import playbacks_of
from engine.calls.recover import Seen, message_of, missed, rung_by
from engine.runtime.actor import Actor
from engine.runtime.clock import Clock, Timer
from engine.runtime.desk import Desk
from engine.runtime.inbound import Arrival
from engine.runtime.overheard import Overheard
from engine.runtime.ports import Pbx
from engine.runtime.snapshot import PbxAway, look
from engine.runtime.translate import is_ours, subject, translate

log = structlog.get_logger()
LOOK_AGAIN_MS = 1_000
STRAINED_MS = 150
SETTLE_MS = 50
REFER_MS = 50  # asked within a millisecond of telling it, Asterisk 22.10 crashes (docs/asterisk.md)


class Node:
    """The desks of one PBX, one for each slot, and what is heard on them."""

    def __init__(  # noqa: PLR0913, PLR0917 - collaborators are passed in
        self,
        name: str,
        pbx: Pbx,
        desks: dict[int, Desk],
        clock: Clock,
        arrive: Callable[[Desk, Arrival], None],
        strain_ms: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self.name = name
        self.desks = desks
        self.pbx = pbx
        self._clock = clock
        self._arrive = arrive
        self._strain_ms = strain_ms
        self.party_of: Callable[[str], str] = lambda number: number  # whom a phone means
        self.overheard = Overheard(clock)
        self._recoveries: dict[int, asyncio.Task[None]] = {}
        self._away: dict[int, Timer] = {}
        for slot, desk in desks.items():
            self.add(slot, desk)

    def add(self, slot: int, desk: Desk) -> None:
        """Open a desk."""
        self.desks[slot] = desk
        desk.on_doubt = partial(self._doubt, slot)
        desk.overheard = lambda: self.overheard.keys

    def rest(self, slot: int) -> None:
        """Hold a desk that may be another's by now; nothing is concluded from that."""
        self.desks[slot].standstill.miss()
        if recovery := self._recoveries.pop(slot, None):
            recovery.cancel()
        if timer := self._away.pop(slot, None):
            timer.cancel()

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
        return self.strain_ms > STRAINED_MS

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
        about = subject(event)
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
        if timer := self._away.pop(slot, None):
            timer.cancel()
        self._recover(slot)

    def lost(self, slot: int, grace_ms: int) -> None:
        """Hold a desk whose events are not heard; its calls are lost when that lasts."""
        self.desks[slot].standstill.miss()
        if recovery := self._recoveries.pop(slot, None):
            recovery.cancel()
        if slot not in self._away:
            due = self._clock.now_ms() + grace_ms
            self._away[slot] = self._clock.call_at(due, lambda: self._give_up(slot))

    def recheck(self, call: str) -> None:
        """Compare the desk of a call with the PBX again."""
        for slot, desk in self.desks.items():
            if call in desk.actors:
                self._doubt(slot)

    async def close(self) -> None:
        """Leave everything as it is, for the next owner."""
        for timer in self._away.values():
            timer.cancel()
        for recovery in self._recoveries.values():
            recovery.cancel()
        await asyncio.gather(*self._recoveries.values(), return_exceptions=True)

    def _refer(self, desk: Desk, referred: TransferReferred) -> None:
        """Bring a phone's REFER to its call when the PBX is ready for the answer."""

        def ready() -> None:
            if actor := desk.route(referred.leg):
                party = self.party_of(referred.party)
                desk.feed(actor, replace(referred, party=party))

        self._clock.call_at(self._clock.now_ms() + REFER_MS, ready)

    def _give_up(self, slot: int) -> None:
        self._away.pop(slot, None)
        desk = self.desks[slot]
        log.error("node lost", node=self.name, slot=slot, calls=len(desk.actors))
        desk.place.meter.calls.given_up.of(self.name)[str(slot)] += len(desk.actors)
        for actor in list(desk.actors.values()):
            # One that waits for its recordings has no leg, and waits no more.
            legs = [leg.id for leg in actor.call.legs] or [actor.call.main]
            ended = tuple(LegEnded(leg, causes.LOST) for leg in legs)
            desk.resume(actor, (), ended)

    def _doubt(self, slot: int) -> None:
        if slot not in self._recoveries and not self.desks[slot].is_held:
            self.desks[slot].hold()
            self._recover(slot)

    def _recover(self, slot: int) -> None:
        if slot not in self._recoveries:
            task = asyncio.get_running_loop().create_task(self._recovered(slot))
            self._recoveries[slot] = task

    async def _recovered(self, slot: int) -> None:
        desk = self.desks[slot]
        began_ms = self._clock.now_ms()
        # What is on its way arrives meanwhile: a playback asked for just now must not be missed.
        await asyncio.sleep(SETTLE_MS / 1000)
        while True:
            actors = list(desk.actors.values())  # whoever comes from here on is heard
            waited_for = [each for actor in actors for each in playbacks_of(actor.call)]
            rung = [leg for actor in actors for leg in rung_by(actor.outbox)]
            recorded = [name for actor in actors if (name := message_of(actor.call))]
            try:
                seen, channels = await look(self.pbx, waited_for, rung, recorded)
                break
            except PbxAway as error:
                log.warning("pbx does not answer", node=self.name, slot=slot, error=str(error))
                await asyncio.sleep(LOOK_AGAIN_MS / 1000)
        self._recoveries.pop(slot, None)
        self._take_up(desk, actors, seen)
        for channel in channels:
            self._claim(desk, channel)
        took_ms = self._clock.now_ms() - began_ms
        desk.place.meter.nodes.recovered.of(self.name, slot).observe(took_ms / 1000)

    def _take_up(self, desk: Desk, actors: list[Actor], seen: Seen) -> None:
        now, waiting = self._clock.now_ms(), desk.standstill.first_keys()
        for actor in actors:
            keys = unknown(actor.call, self.overheard.keys, waiting)
            redo, events = missed(actor.call, tuple(actor.outbox), seen, now, keys)
            desk.resume(actor, redo, events)
        desk.release()

    def _claim(self, desk: Desk, channel: Channel) -> None:
        app, *args = channel.dialplan.app_data.split(",")
        is_here = channel.dialplan.app_name == "Stasis" and app == desk.place.plan.app
        if not is_here or desk.route(channel.id) is not None:
            return
        if channel.state == "Up":
            desk.dismiss(channel.id)  # whoever was answered is no new caller: the call was given up
        else:
            self._enter(desk, channel, args)

    def _enter(self, desk: Desk, channel: Channel, args: list[str]) -> None:
        if is_ours(channel.id) or args[:1] != ["inbound"]:
            desk.dismiss(channel.id)
        else:
            called = args[1] if len(args) > 1 else channel.dialplan.exten
            endpoint = channel.name.rpartition("-")[0]  # PJSIP/1001-0000abcd
            is_up = channel.state == "Up"
            self._arrive(desk, Arrival(channel.id, channel.caller.number, called, is_up, endpoint))
