"""Doing what calls want: a call's requests to its PBX one after another, its errands beside them.

A command stays in the outbox until it is done; what never got an answer stays there for recovery.
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
from engine.runtime.base.ports import CallRecorder, IoRunner, Pbx
from engine.runtime.pbx.ari_replies import event_from_reply
from engine.runtime.pbx.ari_requests import is_pipelined, may_block, requests_for
from engine.runtime.pbx.endpoints import EndpointTemplates
from engine.runtime.shard.actor import Actor
from engine.runtime.shard.resolve_party import resolve_party

Feed = Callable[[Actor, Event], None]


class CommandExecutor:
    """Sends commands on their way and brings their outcomes back as events."""

    def __init__(  # noqa: PLR0913, PLR0917 - collaborators are passed in
        self,
        pbx: Pbx,
        plan: EndpointTemplates,
        errands: IoRunner,
        feed: Feed,
        doubt: Callable[[], None],
        tapes: CallRecorder | None = None,
    ) -> None:
        self._recorder = tapes
        self._pbx = pbx
        self._endpoints = plan
        self._io = errands
        self._feed = feed
        self._on_reply_lost = doubt

    def execute(self, actor: Actor, commands: Sequence[Command]) -> None:
        """Start every command; none waits here."""
        for command in commands:
            match command:
                case EmitEvent():
                    pass  # committed is told
                case PrefetchMedia():
                    actor.acknowledge(command)
                    self._io.prefetch(command)
                case Hangup() | AnswerRefer():
                    self._send(actor, command, requests_for(command, self._endpoints), self._ignore)
                case FetchMedia() | SendWebhook() | LoadFlow() | LoadFlowNode() | SendApiRequest():
                    self._run(actor, command)
                case StartRecording() | MuteRecording() | StopRecording() | ArchiveRecordings():
                    self._record(actor, command)
                case _:
                    actor.queue.append(command)
        self._send_next(actor)

    def _run(self, actor: Actor, errand: IoCommand) -> None:
        def done(event: Event) -> None:
            actor.acknowledge(errand)
            self._feed(actor, event)

        self._io.run(errand, actor.call, done)

    def _record(self, actor: Actor, command: RecordingCommand) -> None:
        def done(event: Event | None) -> None:
            actor.acknowledge(command)
            if event is not None:
                self._feed(actor, event)

        if self._recorder is None:
            actor.acknowledge(command)  # what records was taken away while the call lived
        else:
            self._recorder.run(command, actor.call.id, done)

    def _send_next(self, actor: Actor) -> None:
        if actor.queue and not actor.is_busy:
            actor.is_busy = True
            self._send_command(actor, actor.queue[0])

    def _send_command(self, actor: Actor, command: PbxCommand) -> None:
        if not isinstance(command, Originate):
            self._send(actor, command, requests_for(command, self._endpoints), self._on_sent)
            return
        life = actor.generation

        def prepared(found: tuple[Request, ...] | LegEnded) -> None:
            if actor.generation != life:
                return
            if isinstance(found, LegEnded):
                actor.acknowledge(command)
                self._on_sent(actor)
                self._feed(actor, found)
            else:
                self._send(actor, command, found, self._on_sent)

        resolve_party(self._endpoints, actor.call, command, prepared)

    def _send(
        self,
        actor: Actor,
        command: PbxCommand,
        left: tuple[Request, ...],
        then: Callable[[Actor], None],
    ) -> None:
        life = actor.generation

        def done(reply: Reply) -> None:
            if actor.generation != life:
                return
            if len(left) > 1 and reply.status in {200, 204, 409}:
                self._send(actor, command, left[1:], then)
            else:
                self._on_reply(actor, command, reply, then)

        while is_pipelined(command) and len(left) > 1:
            self._pbx.send(left[0], actor.call.id, False, self._on_pipelined_reply)
            left = left[1:]
        self._pbx.send(left[0], actor.call.id, may_block(command), done)

    def _on_pipelined_reply(self, reply: Reply) -> None:
        """Leave it to the reply of the last request to tell what became of the command."""
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

    def _on_sent(self, actor: Actor) -> None:
        if actor.queue:
            actor.queue.pop(0)
        actor.is_busy = False
        self._send_next(actor)

    def _ignore(self, actor: Actor) -> None:
        """Go on with nothing: these wait for nothing, and nothing waits for them."""
