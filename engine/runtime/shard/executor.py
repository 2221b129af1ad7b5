"""Doing what calls want: a call's requests to its PBX one after another, its errands beside them.

A command stays in the outbox until it is done; what never got an answer stays there for recovery.
"""

from collections.abc import Callable, Sequence

from engine.ari.request import Reply, Request
from engine.calls.model.commands import (
    AnswerReferral,
    Command,
    FileTapes,
    Hangup,
    MuteTape,
    Originate,
    PbxCommand,
    StartTape,
    StopTape,
    TapeCommand,
    Tell,
)
from engine.calls.model.events import Event, LegEnded
from engine.calls.model.io_commands import (
    AskApi,
    AskWebhook,
    Errand,
    FetchMedia,
    LoadFlow,
    LoadNode,
    Prefetch,
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
        self._tapes = tapes
        self._pbx = pbx
        self._plan = plan
        self._errands = errands
        self._feed = feed
        self._doubt = doubt

    def perform(self, actor: Actor, commands: Sequence[Command]) -> None:
        """Start every command; none waits here."""
        for command in commands:
            match command:
                case Tell():
                    pass  # committed is told
                case Prefetch():
                    actor.did(command)
                    self._errands.prefetch(command)
                case Hangup() | AnswerReferral():
                    self._send(actor, command, requests_for(command, self._plan), self._unqueued)
                case FetchMedia() | AskWebhook() | LoadFlow() | LoadNode() | AskApi():
                    self._run(actor, command)
                case StartTape() | MuteTape() | StopTape() | FileTapes():
                    self._record(actor, command)
                case _:
                    actor.queue.append(command)
        self._pump(actor)

    def _run(self, actor: Actor, errand: Errand) -> None:
        def done(event: Event) -> None:
            actor.did(errand)
            self._feed(actor, event)

        self._errands.run(errand, actor.call, done)

    def _record(self, actor: Actor, command: TapeCommand) -> None:
        def done(event: Event | None) -> None:
            actor.did(command)
            if event is not None:
                self._feed(actor, event)

        if self._tapes is None:
            actor.did(command)  # what records was taken away while the call lived
        else:
            self._tapes.run(command, actor.call.id, done)

    def _pump(self, actor: Actor) -> None:
        if actor.queue and not actor.busy:
            actor.busy = True
            self._begin(actor, actor.queue[0])

    def _begin(self, actor: Actor, command: PbxCommand) -> None:
        if not isinstance(command, Originate):
            self._send(actor, command, requests_for(command, self._plan), self._next)
            return
        life = actor.life

        def prepared(found: tuple[Request, ...] | LegEnded) -> None:
            if actor.life != life:
                return
            if isinstance(found, LegEnded):
                actor.did(command)
                self._next(actor)
                self._feed(actor, found)
            else:
                self._send(actor, command, found, self._next)

        resolve_party(self._plan, actor.call, command, prepared)

    def _send(
        self,
        actor: Actor,
        command: PbxCommand,
        left: tuple[Request, ...],
        then: Callable[[Actor], None],
    ) -> None:
        life = actor.life

        def done(reply: Reply) -> None:
            if actor.life != life:
                return
            if len(left) > 1 and reply.status in {200, 204, 409}:
                self._send(actor, command, left[1:], then)
            else:
                self._replied(actor, command, reply, then)

        while is_pipelined(command) and len(left) > 1:
            self._pbx.send(left[0], actor.call.id, False, self._passed)
            left = left[1:]
        self._pbx.send(left[0], actor.call.id, may_block(command), done)

    def _passed(self, reply: Reply) -> None:
        """Leave it to the reply of the last request to tell what became of the command."""
        if reply.status == 0:
            self._doubt()

    def _replied(
        self, actor: Actor, command: PbxCommand, reply: Reply, then: Callable[[Actor], None]
    ) -> None:
        if reply.status == 0:
            self._doubt()
            return
        actor.did(command)
        event = event_from_reply(command, reply)
        then(actor)
        if event is not None:
            self._feed(actor, event)

    def _next(self, actor: Actor) -> None:
        if actor.queue:
            actor.queue.pop(0)
        actor.busy = False
        self._pump(actor)

    def _unqueued(self, actor: Actor) -> None:
        """Go on with nothing: these wait for nothing, and nothing waits for them."""
