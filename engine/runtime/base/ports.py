"""What the shell needs of the world around it, so that the simulator can stand in for each."""

from collections.abc import Callable
from typing import Literal, Protocol

from msgspec import Struct

from engine.ari.request import Done, Reply, Request
from engine.calls.model.call import Call
from engine.calls.model.commands import TapeCommand
from engine.calls.model.events import Event
from engine.calls.model.io_commands import Errand, LoadNode, Prefetch
from engine.store.change import Change
from wire.media import Clip, Source


class Pbx(Protocol):
    """One PBX node that takes requests; `ari.client.Ari` is the real one."""

    def send(self, request: Request, key: str, may_block: bool, done: Done) -> None:
        """Send a request; those of one key that may not block keep their order."""

    async def ask(self, request: Request) -> Reply:
        """Ask, off every call's path."""


class Writer(Protocol):
    """The store's way in for one slot: what is written is committed in order, then `done` runs."""

    healthy: bool  # whether the last commit found the store

    @property
    def overloaded(self) -> bool:
        """Whether so much waits that no new call should begin."""

    @property
    def depth(self) -> int:
        """How many changes wait."""

    def write(self, change: Change, done: Callable[[], None], *, hurry: bool = True) -> None:
        """Queue a change; never waits. One upon which nothing is done need not hurry."""

    def restore(self, change: Change) -> None:
        """Queue a change that stores what is in memory anyway, however much waits."""


class LeaseView(Protocol):
    """A lease as those see it who act under its token."""

    token: int

    @property
    def holds(self) -> bool:
        """Whether nobody else can have the slot yet."""


class CallbackDispatcher(Protocol):
    """What brings to customers what calls tell; `callbacks.courier.Courier` is the real one."""

    def open(self, slot: int, lease: LeaseView) -> None:
        """Deliver for a slot from now on, first what its last owner left."""

    def drop(self, slot: int) -> None:
        """Leave a slot to its next owner."""

    async def settled(self, slot: int) -> None:
        """Begin nothing more for a slot, and wait until what was delivered is noted."""

    def take(self, slot: int, change: Change) -> None:
        """Hand on what was told just now, and is stored."""

    def overflowed(self, slot: int, count: int) -> None:
        """Note that events found no room."""


class NullDispatcher:
    """Tells nobody anything."""

    def open(self, slot: int, lease: LeaseView) -> None:
        """Do nothing."""

    def drop(self, slot: int) -> None:
        """Do nothing."""

    async def settled(self, slot: int) -> None:
        """Do nothing."""

    def take(self, slot: int, change: Change) -> None:
        """Do nothing."""

    def overflowed(self, slot: int, count: int) -> None:
        """Do nothing."""


class AgentResolver(Protocol):
    """Where agents' phones are; `agents.Directory` is the real one."""

    def resolve(self, account: str, agent_id: str, done: Callable[[str | None], None]) -> None:
        """Give `done` the endpoint of an agent, at once or later, once; None: there is none."""


DialRefusal = Literal["", "not_allowed", "do_not_call", "terms_unknown"]


class DialDecision(Struct, frozen=True):
    """Whether a party may be called, and what it is shown."""

    refusal: DialRefusal
    caller_id: str = ""


class DialPolicy(Protocol):
    """Who knows what accounts may dial; `terms.TermsBook` is the real one."""

    def judge(
        self, call: Call, party: str, caller_id: str, done: Callable[[DialDecision], None]
    ) -> None:
        """Give `done` the verdict on a party, at once or later, once."""


class CallRecorder(Protocol):
    """What records calls, beside them; `recorder.Recorder` is the real one."""

    def run(self, command: TapeCommand, call: str, done: Callable[[Event | None], None]) -> None:
        """Do a command; `done` gets the event that it leads to, if it does."""

    def leave(self, call: str) -> None:
        """Do no more for a call: it is another engine's."""


class IoRunner(Protocol):
    """What is fetched from outside for a call while it waits."""

    def known(self, sources: tuple[Source, ...]) -> tuple[Clip, ...] | None:
        """Give the clips of sources that are all at hand; None when one must be fetched."""

    def node(self, errand: LoadNode, call: Call) -> Event | None:
        """Give what a node is, if that is at hand."""

    def prefetch(self, command: Prefetch) -> None:
        """Get audio ready without being waited for."""

    def run(self, errand: Errand, call: Call, done: Callable[[Event], None]) -> None:
        """Run an errand; `done` gets the event that ends it, once."""
