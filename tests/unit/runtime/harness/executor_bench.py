"""A performer by hand: its PBX, an agents' directory and a judge that the test answers."""

from collections.abc import Callable

from msgspec.structs import replace

from engine.calls.model.call import Call
from engine.calls.model.commands import Command
from engine.calls.model.events import Event
from engine.runtime.base.ports import DialDecision
from engine.runtime.shard.actor import Actor
from engine.runtime.shard.context import ShardContext
from engine.runtime.shard.executor import CommandExecutor
from tests.unit.calls.harness.builders import outbound
from tests.unit.runtime.harness.recording_pbx import RecordingPbx
from tests.unit.runtime.harness.shard_bench import PLAN, HandErrands


class HandAgents:
    """A directory that the test answers."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.found: Callable[[str | None], None] = lambda _endpoint: None

    def resolve(self, account: str, agent_id: str, done: Callable[[str | None], None]) -> None:
        """Keep the question."""
        self.asked.append((account, agent_id))
        self.found = done


class HandJudge:
    """A judge whose verdict the test gives."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, str]] = []
        self.says: Callable[[DialDecision], None] = lambda _verdict: None

    def authorize(
        self, call: Call, party: str, caller_id: str, done: Callable[[DialDecision], None]
    ) -> None:
        """Keep the question."""
        self.asked.append((call.account, party, caller_id))
        self.says = done


class Bench:
    """A performer, its PBX, and the events that came back."""

    def __init__(
        self,
        *commands: Command,
        agents: HandAgents | None = None,
        judge: HandJudge | None = None,
    ) -> None:
        self.pbx = RecordingPbx()
        self.errands = HandErrands()
        self.events: list[Event] = []
        self.doubts: list[bool] = []
        self.actor = Actor(outbound(), commands)
        self.performer = CommandExecutor(
            ShardContext("pbx1", 0, self.pbx, replace(PLAN, agents=agents, policy=judge)),
            self.errands,
            lambda _, event: self.events.append(event),
            lambda: self.doubts.append(True),
        )
        self.performer.execute(self.actor, commands)
