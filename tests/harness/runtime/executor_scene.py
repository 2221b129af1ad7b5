"""A command executor whose PBX, agent resolver and dial policy the test answers."""

from collections.abc import Callable

from msgspec.structs import replace

from engine.calls.model.call import Call
from engine.calls.model.commands import Command
from engine.calls.model.events import Event
from engine.runtime.base.interfaces import (
    AgentPhone,
    CallRejection,
    DialDecision,
    DialRejection,
    OnAgentFound,
)
from engine.runtime.shard.call_guard import CallGuard
from engine.runtime.shard.context import ShardContext
from engine.runtime.shard.executor import CommandExecutor
from engine.runtime.shard.live_call import LiveCall
from engine.runtime.shard.outbox import mark_committed
from tests.harness.calls.builders import outbound
from tests.harness.runtime.recording_pbx import RecordingPbx
from tests.harness.runtime.shard_scene import ENDPOINTS, ManualClock, ManualIoRunner
from wire.agents import PhoneKind


class ManualAgentResolver:
    """An agent resolver that the test answers."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str]] = []
        self._done: OnAgentFound = lambda _phone: None

    def resolve(self, account: str, agent_id: str, done: OnAgentFound) -> None:
        """Keep the request."""
        self.requests.append((account, agent_id))
        self._done = done

    def resolve_to(self, endpoint: str | None, name: str = "", kind: PhoneKind = "sip") -> None:
        """Answer the last request."""
        self._done(AgentPhone(endpoint, name, kind) if endpoint else None)


class ManualDialPolicy:
    """A dial policy that the test decides."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, str]] = []
        self.decide: Callable[[DialDecision], None] = lambda _decision: None
        self.admitted: list[str] = []
        self.limit: DialRejection = ""
        self.is_spent = False
        self.counted = 0  # bytes

    def authorize(
        self, call: Call, party: str, caller_id: str, done: Callable[[DialDecision], None]
    ) -> None:
        """Keep the request."""
        self.requests.append((call.account, party, caller_id))
        self.decide = done

    def admit(self, _call: Call, leg_id: str, _party: str) -> DialRejection:
        """Keep the leg, and return the limit that the test sets."""
        self.admitted.append(leg_id)
        return self.limit

    def agent_caller_id(self, _account: str, caller_id: str) -> str:
        return caller_id

    def admit_inbound(self, _account: str) -> CallRejection:
        """Admit every call."""
        return ""

    def count_log(self, _account: str, size: int, _now_ms: int) -> None:
        """Count the bytes of all accounts."""
        self.counted += size

    def is_log_spent(self, _account: str, _now_ms: int) -> bool:
        """Return what the test sets."""
        return self.is_spent

    def is_stopped(self, _account: str) -> bool:
        """Return False: no account is stopped."""
        return False

    def known_region(self, _account: str) -> str | None:
        """Know no region."""
        return ""

    async def region(self, _account: str) -> str:
        """Know no region."""
        return ""


class ExecutorScene:
    """An executor, its PBX, and the events that it fed back."""

    def __init__(
        self,
        *commands: Command,
        agents: ManualAgentResolver | None = None,
        policy: ManualDialPolicy | None = None,
        call: Call | None = None,
    ) -> None:
        self.clock = ManualClock()
        self.pbx = RecordingPbx()
        self.io = ManualIoRunner()
        self.events: list[Event] = []
        self.lost_replies: list[bool] = []
        self.dropped: list[str] = []  # activities that raised
        self.sent: list[str] = []  # ended calls
        self.live_call = LiveCall(call or outbound())
        endpoints = replace(ENDPOINTS, agents=agents, policy=policy)
        context = ShardContext("pbx1", 0, self.pbx, endpoints)
        self.counts = context.metrics.calls
        self.executor = CommandExecutor(
            context,
            self.io,
            lambda _, event: self.events.append(event),
            lambda: self.lost_replies.append(True),
            self._guard,
            clock=self.clock,
            on_last_webhook=self.sent.append,
        )
        self.execute(*commands)

    def execute(self, *commands: Command) -> None:
        """Execute commands whose commit is done."""
        self.executor.execute(self.live_call, mark_committed(self.live_call.outbox.add(commands)))

    def _guard(self, live_call: LiveCall, activity: str) -> CallGuard:
        return CallGuard(live_call, activity, self._drop_call)

    def _drop_call(self, _live_call: LiveCall, activity: str, _error: Exception) -> None:
        self.dropped.append(activity)
