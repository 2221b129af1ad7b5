"""A desk: the live calls of one slot on one PBX node, from event to commit to command.

All of it runs on the loop, synchronously: an event is stepped at once, its commit is grouped with
others, and what the call wants is done when the commit has been made.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import structlog

from engine.calls import causes
from engine.calls.call import Call, deadline_ms
from engine.calls.codec import encode, logged
from engine.calls.commands import Answer, Command, Hangup, Tell
from engine.calls.errands import Prefetch
from engine.calls.events import CallOpened, DeadlinePassed, Event, Recovered
from engine.calls.keys import Heard, untold
from engine.calls.machine import step
from engine.calls.wanted import wanted_by
from engine.runtime.actor import Actor
from engine.runtime.at_hand import answered
from engine.runtime.clock import Clock
from engine.runtime.counting import DeskMeter
from engine.runtime.perform import Performer
from engine.runtime.place import Place
from engine.runtime.ports import Errands, Writer
from engine.runtime.promise import Promise
from engine.runtime.requests import requests
from engine.runtime.standstill import Standstill

log = structlog.get_logger()
# Done before they are stored: a call that was lost with them is taken in anew, as it stands.
EARLY = (Answer, Prefetch)
LOST_LINE = b""  # as a line of the log reads that the store has lost
NOT_AFTER = (Tell, *EARLY)  # what is not done once it is stored: told by being stored, or early


def _nothing() -> None:
    """Nobody waits."""


class Desk:
    """Runs the calls of one (node, slot): the only place where a call's value changes."""

    def __init__(self, place: Place, clock: Clock, writer: Writer, errands: Errands) -> None:
        self.place = place
        self.actors: dict[str, Actor] = {}
        self.inbound: dict[str, Actor] = {}  # by the channel id that Asterisk chose
        self.on_doubt: Callable[[], None] = lambda: None
        self.overheard: Callable[[], Heard] = dict  # the node's keys, as AMI tells them
        self.standstill = Standstill()
        self.promises: set[Promise] = set()  # to those who wait until something is stored
        self._clock = clock
        self._writer = writer
        self._errands = errands
        self._meter = DeskMeter(place.meter, place.node, place.slot)
        self._performer = Performer(
            place.pbx, place.plan, errands, self.feed, self._doubt, place.tapes
        )

    def open(self, call: Call, stored: Callable[[], None] = _nothing) -> Actor:
        """Take a new call up; `stored` is called once its first commit has been made."""
        actor = self.adopt(Actor(call))
        self._meter.began(call)
        self._take(actor, CallOpened(), (encode(call),), stored)
        return actor

    def adopt(self, actor: Actor) -> Actor:
        """Take up a call that has a life behind it."""
        call = actor.call
        self.actors[call.id] = actor
        if actor.arrived is not None:
            self.inbound[actor.arrived] = actor
        return actor

    def prefetch(self, actor: Actor) -> None:
        """Have the audio ready that a call will want: another engine had it until now."""
        if sources := wanted_by(actor.call):
            self._errands.prefetch(Prefetch(sources))

    def route(self, channel_id: str) -> Actor | None:
        """Find the call of a channel: ours carry the call's id before the last dot."""
        return self.actors.get(channel_id.rpartition(".")[0]) or self.inbound.get(channel_id)

    def feed(self, actor: Actor, event: Event, stored: Callable[[], None] = _nothing) -> None:
        """Give a call an event; while the node is away it is kept for later.

        `stored` is called once that is stored, and all before it.
        """
        if not self.is_held:
            self._take(actor, event, (), stored)
        elif not isinstance(event, DeadlinePassed):
            self.standstill.keep(actor, event)

    def dismiss(self, channel: str, cause: int = causes.NORMAL) -> None:
        """Hang up a channel that is no call's, or will not be one."""
        hangup = requests(Hangup(channel, cause), self.place.plan)[0]
        self.place.pbx.send(hangup, channel, False, lambda _reply: None)

    def hold(self) -> None:
        """Stop the calls' time: the node can't be heard, so nothing may be concluded."""
        self.standstill.begin()

    def release(self) -> None:
        """Go on, first with what came meanwhile."""
        for actor, event in self.standstill.end():
            self.feed(actor, event)
        for actor in list(self.actors.values()):
            self._arm(actor)

    @property
    def is_held(self) -> bool:
        """Whether the node is away, or the slot may be another engine's."""
        return not (self.standstill.over.is_set() and self.place.lease.holds)

    @property
    def can_store(self) -> bool:
        """Whether a new call could be stored now."""
        return self._writer.healthy and not self._writer.overloaded

    @property
    def unstored(self) -> int:
        """How many changes of its slot, at any node, wait for the store."""
        return self._writer.depth

    def store_again(self) -> None:
        """Store every call as it is: the store knows nothing of them any more."""
        for actor in self.actors.values():
            self._writer.write(actor.want([], [LOST_LINE], self.place.node), _nothing)

    def inherit(self, kept: Iterable[tuple[Actor, Event]]) -> None:
        """Keep what another desk kept for the same calls: what people asked is in it, too."""
        for actor, event in kept:
            if heir := self.actors.get(actor.call.id):
                self.standstill.keep(heir, event)
        self.standstill.miss()

    def retire(self) -> None:
        """Do nothing more: the calls are another's, or will be."""
        self.hold()
        self.on_doubt = _nothing
        for actor in self.actors.values():
            actor.leave()
            if self.place.tapes is not None:
                self.place.tapes.leave(actor.call.id)
        self.actors, self.inbound = {}, {}
        for promise in self.promises:
            promise.broken()

    def resume(self, actor: Actor, redo: tuple[Command, ...], events: tuple[Event, ...]) -> None:
        """Do again what may not have been done, then take what was missed."""
        self._performer.perform(actor, actor.recover(redo))
        for event in events:
            if not actor.call.is_over:
                self._take(actor, event)

    def _take(
        self,
        actor: Actor,
        event: Event,
        first: tuple[bytes, ...] = (),
        stored: Callable[[], None] = _nothing,
    ) -> None:
        try:
            self._step(actor, event, first, stored)
        except Exception:
            # A fault in one call ends that call, loudly; it must not reach the others.
            log.exception("call dropped", call_id=actor.call.id, happened=type(event).__name__)
            for leg in actor.call.legs:
                self.dismiss(leg.id, causes.TEMPORARY_FAILURE)
            self._close(actor)

    def _step(
        self,
        actor: Actor,
        event: Event,
        first: tuple[bytes, ...],
        stored: Callable[[], None],
    ) -> None:
        now = self._clock.now_ms()
        call, commands = step(actor.call, event, now)
        is_asked = stored is not _nothing  # who asks is answered when all before is stored, too
        if call is actor.call and not (commands or is_asked or isinstance(event, Recovered)):
            return  # what changes nothing leaves no trace, but for the engine's own deaths
        log = [*first, logged(now, event, commands)]
        actor.call, wanted = answered(call, commands, self._errands, log, now)
        self._commit(actor, wanted, log, stored)
        self._arm(actor)

    def _commit(
        self, actor: Actor, wanted: list[Command], log: list[bytes], stored: Callable[[], None]
    ) -> None:
        change = actor.want(wanted, log, self.place.node)
        early = [each for each in wanted if isinstance(each, EARLY)]
        todo = [each for each in wanted if not isinstance(each, NOT_AFTER)]
        actor.waiting += todo
        done = partial(self._committed, actor, todo, stored)
        self._writer.write(change, done, hurry=bool(todo))
        if early:
            self._performer.perform(actor, early)
        if actor.call.is_over:
            self._close(actor)

    def _committed(self, actor: Actor, todo: Sequence[Command], stored: Callable[[], None]) -> None:
        stored()
        if due := actor.stored(todo):
            self._performer.perform(actor, due)

    def _close(self, actor: Actor) -> None:
        self.actors.pop(actor.call.id, None)
        self.inbound.pop(actor.arrived or "", None)
        actor.disarm()
        self._meter.closed(actor.call)

    def _doubt(self) -> None:
        self.on_doubt()

    def _arm(self, actor: Actor) -> None:
        actor.arm(self._clock, lambda: self._due(actor))

    def _due(self, actor: Actor) -> None:
        actor.timer = None
        # The clock counts whole milliseconds: one on time may seem early, and a sum may not fall.
        self._meter.fired(max(0, self._clock.now_ms() - actor.armed_ms))
        if self._is_due(actor) and not self.is_held:
            # Who has pressed a key is not to be told that its time is over.
            for key in untold(actor.call, self.overheard(), self._clock.now_ms()):
                self.feed(actor, key)
        if self._is_due(actor):
            self.feed(actor, DeadlinePassed())
        if actor.timer is None and not self.is_held:
            self._arm(actor)

    def _is_due(self, actor: Actor) -> bool:
        due = deadline_ms(actor.call)
        return due is not None and self._clock.now_ms() >= due
