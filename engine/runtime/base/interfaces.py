"""Interfaces that lower packages of the runtime use and higher ones implement."""

from collections.abc import Callable
from typing import Literal, Protocol

from msgspec import Struct

from engine.ari.request import OnReply, Reply, Request
from engine.calls.model.call import Call
from engine.calls.model.commands import RecordingCommand
from engine.calls.model.events import Event
from engine.calls.model.stream_commands import StreamCommand
from wire.agents import PhoneKind


class Pbx(Protocol):
    """The ARI requests of one PBX node; `engine.ari.client` implements it."""

    @property
    def keeps_order(self) -> bool:
        """Whether non-blocking requests of one key arrive in order, without waiting for replies."""

    def send(self, request: Request, key: str, may_block: bool, done: OnReply) -> None:
        """Send a request."""

    async def ask(self, request: Request) -> Reply:
        """Send a request that belongs to no call and return its reply."""


class AgentPhone(Struct, frozen=True):
    """What an engine dials to reach an agent, and the agent's name in the directory, if any."""

    endpoint: str
    name: str = ""
    kind: PhoneKind = "sip"


OnAgentFound = Callable[[AgentPhone | None], None]


class AgentResolver(Protocol):
    """Finds agents' phones; `engine.runtime.agents.directory` implements it."""

    def resolve(self, account: str, agent_id: str, done: OnAgentFound) -> None:
        """Call `done` once, now or later, with an agent's phone; None: unknown agent."""


DialRejection = Literal[
    "",
    "account_stopped",
    "sip_host",
    "not_allowed",
    "number_without_country",
    "number_type",
    "do_not_call",
    "terms_unknown",
    "legs_per_call",
    "live_legs",
    "leg_rate",
    "daily_minutes",
    "trunk_full",
    "trunk_rate",
]


CallRejection = Literal["", "live_calls", "call_rate", "log_quota"]


class DialDecision(Struct, frozen=True):
    """Whether a party may be called, with which caller id, and as which number."""

    rejection: DialRejection
    caller_id: str = ""
    trunks: tuple[str, ...] = ()  # by name, the first one first; none: all
    party: str = ""  # in its international form; empty: as it is


class DialPolicy(Protocol):
    """Decides which parties an account may call; `engine.runtime.policy` implements it."""

    def authorize(
        self, call: Call, party: str, caller_id: str, done: Callable[[DialDecision], None]
    ) -> None:
        """Call `done` once, now or later, with the decision on a party."""

    def admit(self, call: Call, leg_id: str, party: str) -> DialRejection:
        """Count a leg whose party is authorized and dialled now, or return why it may not be."""

    def admit_inbound(self, account: str) -> CallRejection:
        """Count an inbound call that starts now, or return which limit keeps it out.

        An account whose policy was never read has no limit.
        """

    def agent_caller_id(self, account: str, caller_id: str) -> str:
        """Return what an agent's calls show for the caller id of its document."""

    def count_log(self, account: str, size: int, now_ms: int) -> None:
        """Count bytes that a call of an account writes to the store, to be kept."""

    def is_log_spent(self, account: str, now_ms: int) -> bool:
        """Return whether the calls of an account have written as much as they may."""

    def is_stopped(self, account: str) -> bool:
        """Return whether an account may have no calls."""

    def known_region(self, account: str) -> str | None:
        """Return the region of an account's national numbers; None: not cached."""

    async def region(self, account: str) -> str:
        """Return the region of an account's national numbers; empty: none is known."""


class CallRecorder(Protocol):
    """Records calls beside their steps; `engine.runtime.recording` implements it."""

    def run(
        self, command: RecordingCommand, call: str, done: Callable[[Event | None], None]
    ) -> None:
        """Run a command and call `done` once with its result, if it has one."""

    def drop_waiting(self, call: str) -> None:
        """Drop the commands that have not begun: a recovery is about to repeat them."""

    def abandon(self, call: str) -> None:
        """Stop the work for a call that another engine takes over."""


class StreamRunner(Protocol):
    """Runs stream commands with a PBX and its gateways; `engine.runtime.streams` implements it."""

    def run(self, command: StreamCommand, call: Call, done: Callable[[Event | None], None]) -> None:
        """Run a command and call `done` once with its result, if it has one.

        The same command again changes nothing.
        """
