"""A shard with a manual clock, a recording PBX and a writer that commits on demand."""

import os
from collections.abc import Callable

from msgspec.structs import replace

from engine.calls.model.call import Call
from engine.calls.model.commands import RecordingCommand
from engine.calls.model.events import Event, LegAnswered
from engine.calls.model.io_commands import IoCommand, LoadFlowNode, PrefetchMedia
from engine.calls.model.stream_commands import StreamCommand
from engine.calls.recovery.missed_digits import DigitsByLeg, KeysDown
from engine.calls.step import step
from engine.runtime.base.clock import Timer
from engine.runtime.base.interfaces import DialPolicy
from engine.runtime.io.command_runner import IoRunner
from engine.runtime.io.digit_sealer import DigitSealer
from engine.runtime.pbx.endpoint_templates import EndpointTemplates
from engine.runtime.pbx_nodes.node import (
    NO_STREAM_REPORTS,
    CheckReplacement,
    IncomingChannel,
    Node,
    StreamReports,
    any_replacement,
)
from engine.runtime.pbx_nodes.refers import no_extensions
from engine.runtime.shard.context import ShardContext
from engine.runtime.shard.live_call import LiveCall
from engine.runtime.shard.outbound_leg_setup import CheckAgent, any_agent
from engine.runtime.shard.shard import CallShard
from engine.runtime.shard.step_runner import Core
from engine.store.change import Change
from engine.store.writer import Writer
from tests.harness.calls.builders import MAIN, NOW, outbound, say
from tests.harness.runtime.recording_pbx import RecordingPbx
from wire.media import Clip, Source

ENDPOINTS = EndpointTemplates(
    app="switchroom-0",
    trunk="PJSIP/{number}@trunk",
    agent="PJSIP/{agent_id}",
    media_url="http://127.0.0.1:8070",
)
ORIGINATE = "POST channels/create"
HANGUP = f"DELETE channels/{MAIN}"


class ManualTimer:
    """A timer of a manual clock."""

    def __init__(self, when_ms: int, callback: Callable[[], None]) -> None:
        self.when_ms = when_ms
        self.callback = callback
        self.off = False

    def cancel(self) -> None:
        """Cancel the timer."""
        self.off = True


class ManualClock:
    """A clock that the test moves."""

    def __init__(self, now: int = NOW) -> None:
        self.now = now
        self.reading_takes_ms = 0
        self.offset_ms = 0
        self.timers: list[ManualTimer] = []

    def now_ms(self) -> int:
        """Return the time, which passes as it is read."""
        self.now += self.reading_takes_ms
        return self.now

    def call_at(self, when_ms: int, callback: Callable[[], None]) -> Timer:
        """Set a timer."""
        self.timers.append(ManualTimer(when_ms, callback))
        return self.timers[-1]

    @property
    def armed(self) -> list[ManualTimer]:
        """List the pending timers, the next first."""
        return sorted((each for each in self.timers if not each.off), key=lambda t: t.when_ms)

    def pass_ms(self, passing_ms: int) -> None:
        """Move the clock and fire each timer at its time."""
        end = self.now + passing_ms
        while (armed := self.armed) and armed[0].when_ms <= end:
            self.timers.remove(armed[0])
            self.now = max(self.now, armed[0].when_ms)
            armed[0].callback()
        self.now = end


class ManualWriter(Writer):
    """A writer that keeps changes, and commits at once or on demand."""

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self.sent: list[str] = []  # ended calls
        self.urgent: list[bool] = []  # of each change
        self.pending: list[Callable[[], None]] = []
        self.at_once = True
        self.is_healthy = True
        self.is_full = False
        self.refusal: Exception | None = None

    @property
    def is_overloaded(self) -> bool:
        """Return whether it is full."""
        return self.is_full

    @property
    def pending_count(self) -> int:
        """Count the uncommitted changes."""
        return len(self.pending)

    @property
    def lag_s(self) -> float:
        """Return that no commit is in progress."""
        return 0.0

    def write(self, change: Change, done: Callable[[], None], *, urgent: bool = True) -> None:
        """Keep a change."""
        if self.refusal is not None:
            raise self.refusal
        self.changes.append(change)
        self.urgent.append(urgent)
        if self.at_once:
            done()
        else:
            self.pending.append(done)

    def rewrite(self, change: Change) -> None:
        """Keep a change."""
        self.changes.append(change)

    def mark_sent(self, call_id: str) -> None:
        """Keep an ended call."""
        self.sent.append(call_id)

    def commit(self) -> None:
        """Commit all changes."""
        waiting, self.pending = self.pending, []
        for done in waiting:
            done()


class ManualIoRunner(IoRunner):
    """I/O commands that the test completes; cached clips are in `clips`."""

    def __init__(self) -> None:
        self.clips: dict[Source, Clip] = {}
        self.nodes: dict[str, Callable[[LoadFlowNode], Event]] = {}
        self.running: list[tuple[IoCommand, Callable[[Event], None]]] = []
        self.prefetched: list[Source] = []
        self.released: list[str] = []
        self.error: Exception | None = None  # raised by `run`
        self.sealer = DigitSealer(("secret",), os.urandom)

    def cached_clips(self, account: str, sources: tuple[Source, ...]) -> tuple[Clip, ...] | None:
        """Return cached clips."""
        assert account
        found = tuple(self.clips[each] for each in sources if each in self.clips)
        return found if len(found) == len(sources) else None

    def silent(self, account: str, sources: tuple[Source, ...]) -> tuple[str, ...]:
        """Return none."""
        del account, sources
        return ()

    def cached_node(self, command: LoadFlowNode, call: Call) -> Event | None:
        """Return a cached flow node of any flow."""
        assert call.id
        return self.nodes.pop(command.node)(command) if command.node in self.nodes else None

    def seal_digit(self, call_id: str, digit: str) -> str:
        """Seal a digit with a key of this test."""
        return self.sealer.seal(call_id, digit)

    def release(self, call_id: str) -> None:
        """Keep the call."""
        self.released.append(call_id)

    def prefetch(self, call: Call, command: PrefetchMedia) -> None:
        """Keep the sources."""
        assert call.account
        self.prefetched += command.sources

    def run(self, command: IoCommand, call: Call, done: Callable[[Event], None]) -> None:
        """Keep a command."""
        if self.error is not None:
            raise self.error
        assert call.id
        self.running.append((command, done))


class ManualStreamRunner:
    """Stream commands that the test completes."""

    def __init__(self) -> None:
        self.running: list[tuple[StreamCommand, Callable[[Event | None], None]]] = []

    def run(self, command: StreamCommand, call: Call, done: Callable[[Event | None], None]) -> None:
        """Keep a command."""
        assert call.id
        self.running.append((command, done))


class NotingRecorder:
    """Notes the calls whose work is stopped."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def run(self, command: RecordingCommand, call: str, done: object) -> None:
        """Fail: nothing is recorded."""
        raise AssertionError(command, call, done)

    def drop_waiting(self, call: str) -> None:
        """Note the call."""
        self.notes.append(f"drop {call}")

    def abandon(self, call: str) -> None:
        """Note the call."""
        self.notes.append(f"abandon {call}")


class FakeShardHost:
    """The node of a shard; counts lost replies, and forwards all to a real node if it has one."""

    def __init__(self) -> None:
        self.node: Node | None = None
        self.digits: DigitsByLeg = {}
        self.down: KeysDown = {}
        self.forgotten: list[str] = []
        self.lost_replies = 0
        self.error: Exception | None = None  # raised for a lost reply

    def logged_digits(self) -> DigitsByLeg:
        """Return the digits that AMI reported."""
        return self.node.logged_digits() if self.node else self.digits

    def forget_digits(self, leg: str) -> None:
        """Note the leg."""
        self.forgotten.append(leg)

    def keys_down(self) -> KeysDown:
        """Return the keys that are down."""
        return self.node.keys_down() if self.node else self.down

    def on_reply_lost(self, slot: int) -> None:
        """Count a lost reply."""
        if self.error is not None:
            raise self.error
        self.lost_replies += 1
        if self.node:
            self.node.on_reply_lost(slot)


class ShardScene:
    """One shard that is not paused, with all its collaborators."""

    def __init__(self, core: Core = step, policy: DialPolicy | None = None) -> None:
        self.pbx = RecordingPbx()
        self.streams = ManualStreamRunner()
        self.clock = ManualClock()
        self.writer = ManualWriter()
        self.io = ManualIoRunner()
        self.host = FakeShardHost()
        endpoints = replace(ENDPOINTS, policy=policy)
        context = ShardContext("pbx1", 0, self.pbx, endpoints, streams=self.streams)
        self.shard = CallShard(context, self.clock, self.writer, self.io, self.host, core=core)
        self.shard.resume()

    def node(
        self,
        on_incoming: Callable[[CallShard, IncomingChannel], None] = lambda _shard, _channel: None,
        party_of: Callable[[str, str], str] = no_extensions,
        check_agent: CheckAgent = any_agent,
        stream_reports: StreamReports = NO_STREAM_REPORTS,
        check_replacement: CheckReplacement = any_replacement,
    ) -> Node:
        """Make the node of the shard."""
        node = Node(
            "pbx1",
            self.pbx,
            self.clock,
            on_incoming,
            party_of,
            check_agent=check_agent,
            check_replacement=check_replacement,
            stream_reports=stream_reports,
        )
        node.add_shard(0, self.shard)
        self.host.node = node
        return node


def answered_call(scene: ShardScene, action: object = None) -> LiveCall:
    """Start an outbound call and let its party answer."""
    live_call = scene.shard.start_call(outbound(say() if action is None else action))
    scene.pbx.settle()
    scene.shard.feed(live_call, LegAnswered(MAIN))
    return live_call
