"""Executes calls' commands: PBX requests of a call in sequence, I/O and recording beside them.

A command stays in the outbox until it is acknowledged; a command without a reply stays there for
recovery.
"""

from collections.abc import Callable, Sequence

from engine.ari.request import Reply, Request
from engine.calls.model.commands import (
    AnswerRefer,
    ArchiveRecordings,
    Command,
    EmitEvent,
    Hangup,
    MuteRecording,
    Originate,
    PbxCommand,
    RecordingCommand,
    StartRecording,
    StopRecording,
)
from engine.calls.model.events import Event, LegEnded
from engine.calls.model.io_commands import (
    FetchMedia,
    IoCommand,
    LoadFlow,
    LoadFlowNode,
    PrefetchMedia,
    SendApiRequest,
    SendWebhook,
)
from engine.runtime.base.ports import IoRunner
from engine.runtime.pbx.ari_replies import event_from_reply
from engine.runtime.pbx.ari_requests import is_pipelined, may_block, requests_for
from engine.runtime.shard.actor import Actor
from engine.runtime.shard.context import ShardContext
from engine.runtime.shard.resolve_party import resolve_party

Feed = Callable[[Actor, Event], None]


class CommandExecutor:
    """Executes commands and feeds their results back as events."""

    def __init__(
        self,
        context: ShardContext,
        io: IoRunner,
        feed: Feed,
        on_reply_lost: Callable[[], None],
    ) -> None:
        self._pbx = context.pbx
        self._endpoints = context.endpoints
        self._recorder = context.recorder
        self._io = io
        self._feed = feed
        self._on_reply_lost = on_reply_lost

    def execute(self, actor: Actor, commands: Sequence[Command]) -> None:
        """Start every command without waiting."""
        for command in commands:
            match command:
                case EmitEvent():
                    pass  # emitted by the commit itself
                case PrefetchMedia():
                    actor.acknowledge(command)
                    self._io.prefetch(command)
                case Hangup() | AnswerRefer():  # these wait for nothing
                    self._send(actor, command, requests_for(command, self._endpoints), _ignore)
                case FetchMedia() | SendWebhook() | LoadFlow() | LoadFlowNode() | SendApiRequest():
                    self._run(actor, command)
                case StartRecording() | MuteRecording() | StopRecording() | ArchiveRecordings():
                    self._record(actor, command)
                case _:
                    actor.queue.append(command)
        self._send_next(actor)

    def _run(self, actor: Actor, command: IoCommand) -> None:
        def done(event: Event) -> None:
            actor.acknowledge(command)
            self._feed(actor, event)

        self._io.run(command, actor.call, done)

    def _record(self, actor: Actor, command: RecordingCommand) -> None:
        def done(event: Event | None) -> None:
            actor.acknowledge(command)
            if event is not None:
                self._feed(actor, event)

        if self._recorder is None:
            actor.acknowledge(command)  # recording was disabled during the call
        else:
            self._recorder.run(command, actor.call.id, done)

    def _send_next(self, actor: Actor) -> None:
        if actor.queue and not actor.is_busy:
            actor.is_busy = True
            self._send_queued(actor, actor.queue[0])

    def _send_queued(self, actor: Actor, command: PbxCommand) -> None:
        if not isinstance(command, Originate):
            self._send(actor, command, requests_for(command, self._endpoints), self._dequeue)
            return
        generation = actor.generation

        def resolved(result: tuple[Request, ...] | LegEnded) -> None:
            if actor.generation != generation:
                return
            if isinstance(result, LegEnded):
                actor.acknowledge(command)
                self._dequeue(actor)
                self._feed(actor, result)
            else:
                self._send(actor, command, result, self._dequeue)

        resolve_party(self._endpoints, actor.call, command, resolved)

    def _send(
        self,
        actor: Actor,
        command: PbxCommand,
        requests: tuple[Request, ...],
        then: Callable[[Actor], None],
    ) -> None:
        generation = actor.generation

        def done(reply: Reply) -> None:
            if actor.generation != generation:
                return
            if len(requests) > 1 and reply.status in {200, 204, 409}:
                self._send(actor, command, requests[1:], then)
            else:
                self._on_reply(actor, command, reply, then)

        while is_pipelined(command) and len(requests) > 1:
            self._pbx.send(requests[0], actor.call.id, False, self._on_pipelined_reply)
            requests = requests[1:]
        self._pbx.send(requests[0], actor.call.id, may_block(command), done)

    def _on_pipelined_reply(self, reply: Reply) -> None:
        """Report only a lost reply: the last request's reply decides the command's result."""
        if reply.status == 0:
            self._on_reply_lost()

    def _on_reply(
        self, actor: Actor, command: PbxCommand, reply: Reply, then: Callable[[Actor], None]
    ) -> None:
        if reply.status == 0:
            self._on_reply_lost()
            return
        actor.acknowledge(command)
        event = event_from_reply(command, reply)
        then(actor)
        if event is not None:
            self._feed(actor, event)

    def _dequeue(self, actor: Actor) -> None:
        if actor.queue:
            actor.queue.pop(0)
        actor.is_busy = False
        self._send_next(actor)


def _ignore(_actor: Actor) -> None:
    """Leave the queue alone: the command was never in it."""
