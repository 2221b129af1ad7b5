"""Runs a call's steps: step at once, commit with other calls, then execute the commands."""

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated

import structlog
from msgspec import Struct
from msgspec.structs import replace

from base.limit import Limit
from engine.calls.media.plan import required_bridges
from engine.calls.model import causes
from engine.calls.model.call import Call, Step
from engine.calls.model.call_states import Ended, Ending
from engine.calls.model.commands import Answer, Command, EmitEvent, Play, Snoop
from engine.calls.model.events import (
    CallDropped,
    ClockChanged,
    DigitPressed,
    Event,
    Recovered,
)
from engine.calls.model.io_commands import FetchMedia, LoadFlowNode, PrefetchMedia
from engine.calls.model.io_results import FlowNodeLoaded, MediaFetched
from engine.calls.model.storage_format import encode_log_entry
from engine.calls.verbs.sensitive_input import is_sealable
from engine.runtime.base.clock import Clock
from engine.runtime.base.interfaces import DialPolicy
from engine.runtime.io.command_runner import IoRunner
from engine.runtime.shard.context import ShardContext
from engine.runtime.shard.control_requests import CallTooLarge
from engine.runtime.shard.executor import CommandExecutor
from engine.runtime.shard.live_call import LiveCall
from engine.runtime.shard.outbox import CommandState, PendingCommand, mark_committed
from engine.store.change import Change
from engine.store.errors import Overflow
from engine.store.writer import Writer

ALWAYS_LOGGED = (ClockChanged, Recovered)  # also without effect
# A customer's call must not fill the store: a bot can send 60 marks a second, each a step, and a
# webhook trees of 64 KB.
MAX_LOG_LINES = 200_000
MAX_LOG_BYTES = 32_000_000  # since this engine has the call
MAX_STATE_BYTES = 1_000_000
# What each call may write also after its account's calls have written as much as they may.
ALLOWED_LOG_BYTES = 1_000_000
# Then other calls have their turn: a flow of conditions leads through hundreds of nodes at once.
MAX_NODES_OF_STEP: Annotated[
    int,
    Limit(
        "call",
        "other calls have their turn",
        "Nodes of flows that a step runs; none follows one with values that do not fit.",
    ),
] = 4
OnStored = Callable[[], None]
Core = Callable[[Call, Event, int], Step]  # steps a call, as `engine.calls.step` does


def no_op() -> None:
    """Do nothing: no request waits for the commit."""


class StepRunner(Struct, frozen=True):
    """Takes calls from event to commit to command, in that order (docs/architecture.md)."""

    node: str
    clock: Clock
    writer: Writer
    io: IoRunner
    executor: CommandExecutor
    awaits_recovery: Callable[[], bool]
    core: Core
    max_log_lines: int = MAX_LOG_LINES
    policy: DialPolicy | None = None  # without one, an account's calls may write what each may

    def step(
        self, live_call: LiveCall, event: Event, first_lines: tuple[bytes, ...], on_stored: OnStored
    ) -> bool:
        """Step a call; return whether the step changed anything.

        `first_lines` precede the step in the log; `on_stored` is called after the commit.
        """
        if live_call.log_lines >= self.max_log_lines:
            raise CallTooLarge(f"{self.max_log_lines} steps")
        if live_call.log_bytes >= MAX_LOG_BYTES:
            raise CallTooLarge(f"a log of {MAX_LOG_BYTES} bytes")
        now = self.clock.now_ms()
        if live_call.log_bytes >= ALLOWED_LOG_BYTES and self._is_log_spent(live_call, now):
            raise CallTooLarge(f"a log of {ALLOWED_LOG_BYTES} bytes, in an account without more")
        if isinstance(event, DigitPressed) and is_sealable(live_call.call, event):
            event = replace(event, digit=self.io.seal_digit(live_call.call.id, event.digit))
        call, commands = self.core(live_call.call, event, now)
        is_awaited = on_stored is not no_op  # a request is acknowledged after all commits before it
        if call is live_call.call and not (
            commands or is_awaited or isinstance(event, ALWAYS_LOGGED)
        ):
            return False  # an event without effect is not logged; a recovery always is
        log = [*first_lines, encode_log_entry(now, event, commands)]
        before, log_lines = live_call.call, live_call.log_lines
        live_call.call, remaining = self._answer_from_cache(call, commands, log, now)
        try:
            self._commit(live_call, remaining, log, now, on_stored)
        except (Overflow, CallTooLarge):  # the step was not queued for its commit
            live_call.call, live_call.log_lines = before, log_lines
            raise
        return True

    def drop(self, live_call: LiveCall, reason: str) -> None:
        """End a call that cannot continue, with its record and last event, despite a backlog."""
        now, event = self.clock.now_ms(), CallDropped(reason)
        call, commands = self.core(live_call.call, event, now)
        live_call.call = call
        events: list[Command] = [each for each in commands if isinstance(each, EmitEvent)]
        log = [encode_log_entry(now, event, commands)]
        _, change = live_call.prepare_commit(events, log, self.node, self.clock)
        self._count_log(change, now)
        self.writer.rewrite(change)

    def _answer_from_cache(
        self, call: Call, commands: tuple[Command, ...], log: list[bytes], now: int
    ) -> tuple[Call, list[Command]]:
        """Step a call through commands whose results are cached, and through few nodes of flows.

        Returns the call and the commands that remain, which are executed after the commit; the log
        gets a line for each step.
        """
        remaining: list[Command] = []
        pending = deque(commands)
        nodes_left = MAX_NODES_OF_STEP
        while pending:
            command = pending.popleft()
            is_node = isinstance(command, LoadFlowNode)
            may_run = nodes_left > 0 or not is_node
            event = _cached_result(call, command, self.io) if may_run else None
            if event is None:
                remaining.append(command)
                continue
            if is_node:
                nodes_left = nodes_left - 1 if _fits(event) else 0
            call, more = self.core(call, event, now)
            log.append(encode_log_entry(now, event, more))
            pending.extendleft(reversed(more))
        return call, remaining

    def _is_log_spent(self, live_call: LiveCall, now: int) -> bool:
        account = live_call.call.account
        return self.policy is not None and self.policy.is_log_spent(account, now)

    def _count_log(self, change: Change, now: int) -> None:
        """Count what is kept of a change: its log, and the state if it is the last one."""
        if self.policy is not None:
            size = sum(map(len, change.log)) + (0 if change.live else len(change.state))
            self.policy.count_log(change.account, size, now)

    def _commit(
        self,
        live_call: LiveCall,
        commands: list[Command],
        log: list[bytes],
        now: int,
        on_stored: OnStored,
    ) -> None:
        waits = bool(live_call.outbox.find(CommandState.UNCOMMITTED))
        added, change = live_call.prepare_commit(commands, log, self.node, self.clock)
        if len(change.state) > MAX_STATE_BYTES and change.live:
            raise CallTooLarge(f"a state of {MAX_STATE_BYTES} bytes")
        self._count_log(change, now)
        # Executed before the commit: if both are lost, the call is admitted again unchanged.
        early = [each for each in added if _precedes_commit(each.command, live_call, waits=waits)]
        late = [each for each in added if each not in early]
        done = partial(self._on_committed, live_call, late, on_stored)
        self.writer.write(change, done, urgent=bool(late) or on_stored is not no_op)
        if early:
            self.executor.execute(live_call, mark_committed(early))

    def _on_committed(
        self, live_call: LiveCall, commands: Sequence[PendingCommand], on_stored: OnStored
    ) -> None:
        on_stored()
        due = mark_committed(commands)
        if self.awaits_recovery():
            # Recovery may already have requested again what its snapshot did not show. Asterisk
            # plays an id as often as it is requested, and says of a second snoop of an id only that
            # it could not be created. Every other command may run twice.
            due = [each for each in due if not isinstance(each.command, Play | Snoop)]
        if due:
            self.executor.execute(live_call, due)


def _precedes_commit(command: Command, live_call: LiveCall, *, waits: bool) -> bool:
    """Return whether a command needs no commit; an answer must not overtake a ringing tone.

    `waits`: whether other commands wait for theirs. The answer of a leg that another call has sent
    completes a transfer of that call.
    """
    if isinstance(command, Answer):
        return command.leg == live_call.call.main and not waits
    return isinstance(command, PrefetchMedia)


def _fits(event: Event) -> bool:
    """Return whether a node could be loaded with all its values; each other one costs more."""
    return isinstance(event, FlowNodeLoaded) and not event.faults


def _cached_result(call: Call, command: Command, io: IoRunner) -> Event | None:
    match command:
        case FetchMedia(request=request, sources=sources):
            clips = io.cached_clips(call.account, sources)
            if clips is None:
                return None
            return MediaFetched(request, clips, silent=io.silent(call.account, sources))
        case LoadFlowNode():
            return io.cached_node(command, call)
        case _:
            return None


log = structlog.get_logger()
_REASONS: dict[type[Exception], str] = {
    Overflow: "store_overflow",
    CallTooLarge: "call_too_large",
}


def drop_call(
    live_call: LiveCall,
    activity: str,
    error: Exception,
    context: ShardContext,
    step_runner: StepRunner,
) -> None:
    """Log the error, store the end of the call, and remove what it has on the PBX."""
    call = live_call.call
    log.error("call dropped", call_id=call.id, activity=activity, exc_info=error)
    _store_end(live_call, error, step_runner)
    live_call.call = replace(call, state=Ended())  # later events change nothing
    live_call.retire()
    mark_committed(live_call.outbox.find(CommandState.UNCOMMITTED))  # and execute none of them
    for leg in call.legs:
        context.hang_up_channel(leg.id, causes.TEMPORARY_FAILURE)
    try:
        _remove_media(call, context)
    except Exception:
        log.exception("media of a dropped call left to the reaper", call_id=call.id)


def _remove_media(call: Call, context: ShardContext) -> None:
    """Remove streams, snoops and bridges; else a bot talks until the reaper finds its stream."""
    for stream in call.streams:
        context.hang_up_channel(stream.id)
        if stream.is_forking:
            context.hang_up_channel(stream.snoop)
    for member in call.conference.members if call.conference else ():
        if member.is_snooping:
            context.hang_up_channel(member.snoop)
    for bridge in sorted(required_bridges(call)):
        context.destroy_bridge(bridge)


def _store_end(live_call: LiveCall, error: Exception, step_runner: StepRunner) -> None:
    """Store the end: without it the call would be billed until the reaper finds it."""
    reason = _REASONS.get(type(error), "internal")
    call = live_call.call
    if call.is_ended or not live_call.log_lines:
        return  # its end is stored, or not even its start
    # The part of the call that caused the error may be unreadable, so try without it, too.
    bare = replace(call, state=Ending(0), transfers=(), conferences=(), recordings=())
    for each in (call, bare):
        live_call.call = each
        try:
            step_runner.drop(live_call, reason)
        except Exception:
            log.exception("end of a dropped call not stored", call_id=call.id)
        else:
            return
