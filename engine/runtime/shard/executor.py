"""Executes calls' commands: PBX requests of a call in sequence, I/O and recording beside them.

A command stays in the outbox until it is acknowledged; a command without a reply stays there for
recovery.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import cast

from base.tasks import PendingKeys
from engine.ari.request import Reply, Request
from engine.calls.model.commands import (
    AnswerRefer,
    ArchiveRecordings,
    EmitEvent,
    Hangup,
    MuteRecording,
    Originate,
    PbxCommand,
    RecordingCommand,
    StartRecording,
    StopRecording,
)
from engine.calls.model.events import AgentNamed, Event, LegEnded
from engine.calls.model.io_commands import (
    FetchMedia,
    IoCommand,
    LoadFlow,
    LoadFlowNode,
    PrefetchMedia,
    SendApiRequest,
    SendWebhook,
)
from engine.calls.model.stream_commands import SendToStream, StartStream, StopStream, StreamCommand
from engine.calls.model.stream_events import StreamEnded
from engine.runtime.base.clock import Clock
from engine.runtime.io.command_runner import IoRunner
from engine.runtime.pbx.ari_requests import (
    continues_after,
    event_from_reply,
    is_pipelined,
    look_up_channel,
    may_block,
    may_follow_at_once,
    requests_for,
)
from engine.runtime.shard.call_guard import Guard
from engine.runtime.shard.context import ShardContext
from engine.runtime.shard.live_call import LiveCall
from engine.runtime.shard.outbound_leg_setup import OutboundLeg, set_up_outbound_leg
from engine.runtime.shard.outbox import CommandState, PendingCommand
from engine.runtime.shard.refer_answers import ReferAnswers

Feed = Callable[[LiveCall, Event], None]


class CommandExecutor:
    """Executes commands and feeds their results back as events."""

    def __init__(  # noqa: PLR0913 - collaborators are passed in
        self,
        context: ShardContext,
        io: IoRunner,
        feed: Feed,
        on_reply_lost: Callable[[], None],
        guard: Guard,
        *,
        clock: Clock,
        on_last_webhook: Callable[[str], None],
    ) -> None:
        self._pbx = context.pbx
        self._endpoints = context.endpoints
        self._recorder = context.recorder
        self._streams = context.streams
        self._io = io
        self._feed = feed
        self._on_reply_lost = on_reply_lost
        self._guard = guard
        self._on_last_webhook = on_last_webhook  # of an ended call
        self.customer_requests = PendingKeys()  # in flight, by id
        self.is_handing_over = False
        self._sent = asyncio.Event()  # a command, during a handover
        self._parties_rejected = context.metrics.calls.parties_rejected.table()
        self._refers_declined = context.metrics.calls.refers_declined.table()
        self._refer_answers = ReferAnswers(clock, self._send_unqueued)

    def execute(self, live_call: LiveCall, commands: Sequence[PendingCommand]) -> None:
        """Start every command without waiting; an exception ends the call."""
        with self._guard(live_call, "commands"):
            self._execute(live_call, commands)

    async def wait_until_sent(self, live_calls: Iterable[LiveCall]) -> None:
        """Wait during a handover until no command waits for the reply to another one."""
        waiting = list(live_calls)
        while any(each.is_busy for each in waiting):
            self._sent.clear()
            await self._sent.wait()

    def _execute(self, live_call: LiveCall, commands: Sequence[PendingCommand]) -> None:
        for pending in commands:
            match pending.command:
                case EmitEvent():
                    pass  # emitted by the commit itself
                case PrefetchMedia() as command:
                    live_call.outbox.finish(pending)
                    self._io.prefetch(live_call.call, command)
                case Hangup(leg) | AnswerRefer(leg):
                    self._answer_or_hang_up(live_call, pending, leg)
                case (
                    FetchMedia() | SendWebhook() | LoadFlow() | LoadFlowNode() | SendApiRequest()
                ) as command:
                    self._run(live_call, pending, command)
                case (
                    StartRecording() | MuteRecording() | StopRecording() | ArchiveRecordings()
                ) as command:
                    self._record(live_call, pending, command)
                case (StartStream() | StopStream() | SendToStream()) as command:
                    self._stream(live_call, pending, command)
                case _ as command:
                    _queue(pending, command)
        self._send_next(live_call)

    def _answer_or_hang_up(self, live_call: LiveCall, pending: PendingCommand, leg: str) -> None:
        command = pending.command
        if not isinstance(command, AnswerRefer):
            self._refer_answers.hang_up(live_call, pending, leg)
            return
        if not command.accepted and not command.outcome:
            self._refers_declined[""] += 1
        self._refer_answers.answer(live_call, pending, leg)

    def _send_unqueued(self, live_call: LiveCall, pending: PendingCommand) -> None:
        """Send a command that does not wait for the replies to others."""
        with self._guard(live_call, "commands"):
            self._send(live_call, pending, self._requests_for(pending), _ignore)

    def _run(self, live_call: LiveCall, pending: PendingCommand, command: IoCommand) -> None:
        is_for_customer = _is_for_customer(command)
        if is_for_customer and self.is_handing_over:
            return  # it stays in the outbox for the next owner

        def done(event: Event) -> None:
            live_call.outbox.finish(pending)
            if live_call.call.is_ended and not live_call.unsent_webhooks():
                self._on_last_webhook(live_call.call.id)
            self._feed(live_call, event)
            self.customer_requests.discard(command.request)

        if is_for_customer:
            self.customer_requests.add(command.request)
        pending.state = CommandState.SENT
        self._io.run(command, live_call.call, done)

    def _record(
        self, live_call: LiveCall, pending: PendingCommand, command: RecordingCommand
    ) -> None:
        if self._recorder is None:
            live_call.outbox.finish(pending)  # recording was disabled during the call
        else:
            done = self._when_done(live_call, pending)
            self._recorder.run(command, live_call.call.id, done)

    def _stream(self, live_call: LiveCall, pending: PendingCommand, command: StreamCommand) -> None:
        done = self._when_done(live_call, pending)
        if self._streams is not None:
            self._streams.run(command, live_call.call, done)
        elif isinstance(command, StartStream):
            done(StreamEnded(command.stream, "no-gateway", detail="no gateway is configured"))
        else:
            live_call.outbox.finish(pending)

    def _when_done(
        self, live_call: LiveCall, pending: PendingCommand
    ) -> Callable[[Event | None], None]:
        def done(event: Event | None) -> None:
            live_call.outbox.finish(pending)
            if event is not None:
                self._feed(live_call, event)

        pending.state = CommandState.SENT
        return done

    def _requests_for(self, pending: PendingCommand) -> tuple[Request, ...]:
        return requests_for(_pbx_command(pending), self._endpoints)

    def _send_next(self, live_call: LiveCall) -> None:
        """Send the next command, or a burst: commands that need no reply, and the one after them.

        So a prompt follows a stopped one without a gap, however late the engine reads replies.
        """
        if live_call.is_busy:
            return
        queue = live_call.outbox.find(CommandState.QUEUED)
        if not queue:
            return
        live_call.is_busy = True
        burst: list[PendingCommand] = []
        while self._is_burst(queue):
            burst.append(queue.pop(0))
            (request,) = self._requests_for(burst[-1])
            burst[-1].state = CommandState.SENT
            self._send_before_last(live_call, request)

        def done(live_call: LiveCall) -> None:
            # The replies of one websocket have the order of its requests.
            live_call.outbox.finish(*burst)
            self._dequeue(live_call)

        self._send_queued(live_call, queue[0], done if burst else self._dequeue)

    def _is_burst(self, queue: Sequence[PendingCommand]) -> bool:
        match queue:
            case [first, second, *_] if self._pbx.keeps_order:
                return may_follow_at_once(_pbx_command(first), _pbx_command(second))
            case _:
                return False

    def _send_queued(
        self, live_call: LiveCall, pending: PendingCommand, then: Callable[[LiveCall], None]
    ) -> None:
        command = _pbx_command(pending)
        pending.state = CommandState.SENT
        if not isinstance(command, Originate):
            self._send(live_call, pending, self._requests_for(pending), then)
            return
        generation = live_call.generation

        def resolved(result: OutboundLeg | LegEnded) -> None:
            if live_call.generation != generation:
                return
            with self._guard(live_call, "party"):
                if isinstance(result, LegEnded):
                    if result.reason:
                        self._parties_rejected[result.reason] += 1
                    live_call.outbox.finish(pending)
                    self._feed(live_call, result)  # first: the next leg may be dialled in its place
                    then(live_call)
                    return
                if result.agent_name:
                    self._feed(live_call, AgentNamed(command.leg, result.agent_name))
                # The PBX may have created it since the recovery's snapshot.
                look_up = (look_up_channel(command.leg),) if is_repeated else ()
                self._send(live_call, pending, (*look_up, *result.requests), then)

        is_repeated = pending.is_repeated
        set_up_outbound_leg(
            self._endpoints, live_call.call, command, resolved, is_repeated=is_repeated
        )

    def _send(
        self,
        live_call: LiveCall,
        pending: PendingCommand,
        requests: tuple[Request, ...],
        then: Callable[[LiveCall], None],
    ) -> None:
        generation, command = live_call.generation, _pbx_command(pending)
        pending.state = CommandState.SENT

        def done(reply: Reply) -> None:
            if live_call.generation != generation:
                return
            with self._guard(live_call, "reply"):
                if len(requests) > 1 and continues_after(command, reply):
                    self._send(live_call, pending, requests[1:], then)
                else:
                    self._on_reply(live_call, pending, reply, then)

        while len(requests) > 1 and is_pipelined(command, keeps_order=self._pbx.keeps_order):
            self._send_before_last(live_call, requests[0])
            requests = requests[1:]
        self._pbx.send(requests[0], live_call.call.id, may_block(command), done)

    def _send_before_last(self, live_call: LiveCall, request: Request) -> None:
        """Send a request; only its loss matters, as the last one's reply decides the result."""
        generation = live_call.generation

        def done(reply: Reply) -> None:
            if live_call.generation == generation and reply.status == 0:
                self._on_reply_lost()

        self._pbx.send(request, live_call.call.id, False, done)

    def _on_reply(
        self,
        live_call: LiveCall,
        pending: PendingCommand,
        reply: Reply,
        then: Callable[[LiveCall], None],
    ) -> None:
        if reply.status == 0:
            self._on_reply_lost()
            return
        live_call.outbox.finish(pending)
        event = event_from_reply(_pbx_command(pending), reply)
        then(live_call)
        if event is not None:
            self._feed(live_call, event)

    def _dequeue(self, live_call: LiveCall) -> None:
        live_call.is_busy = False
        self._send_next(live_call)
        if self.is_handing_over:
            self._sent.set()


def _queue(pending: PendingCommand, _command: PbxCommand) -> None:
    """Let a command wait for its turn; mypy checks here that `_execute` names all others."""
    pending.state = CommandState.QUEUED


def _pbx_command(pending: PendingCommand) -> PbxCommand:
    """Return a command that `_execute` has left for the PBX."""
    return cast("PbxCommand", pending.command)


def _is_for_customer(command: IoCommand) -> bool:
    """Return whether a command sends a request to a customer's server."""
    match command:
        case SendWebhook() | SendApiRequest():
            return True
        case FetchMedia() | LoadFlow() | LoadFlowNode():
            return False


def _ignore(_actor: LiveCall) -> None:
    """Leave the queue alone: the command was never in it."""
