"""Delays the answers to REFERs: an early one crashes Asterisk 22.10 (docs/asterisk.md)."""

from collections.abc import Callable

from msgspec import Struct

from engine.calls.model.commands import AnswerRefer
from engine.runtime.base.clock import Clock
from engine.runtime.shard.live_call import LiveCall
from engine.runtime.shard.outbox import PendingCommand

ANSWER_DELAY_MS = 50
Send = Callable[[LiveCall, PendingCommand], None]


class _Waiting(Struct, frozen=True):
    """A command for a leg, to be sent when those before it are sent, and not before `due_ms`."""

    live_call: LiveCall
    generation: int  # of the call: a recovery executes the command again
    pending: PendingCommand
    due_ms: int


class ReferAnswers:
    """Sends each answer after the delay; a hangup of its leg waits, as it would overtake it."""

    def __init__(self, clock: Clock, send: Send) -> None:
        self._clock = clock
        self._send = send
        self._waiting: dict[str, list[_Waiting]] = {}  # by leg

    def answer(self, live_call: LiveCall, pending: PendingCommand, leg: str) -> None:
        """Send an answer later."""
        due_ms = self._clock.now_ms() + ANSWER_DELAY_MS
        waiting = self._waiting.setdefault(leg, [])
        waiting.append(_Waiting(live_call, live_call.generation, pending, due_ms))
        if len(waiting) == 1:
            self._set_timer(leg, due_ms)

    def hang_up(self, live_call: LiveCall, pending: PendingCommand, leg: str) -> None:
        """Hang up a leg, after the answers that wait."""
        if waiting := self._waiting.get(leg):
            waiting.append(_Waiting(live_call, live_call.generation, pending, due_ms=0))
        else:
            self._send(live_call, pending)

    def _set_timer(self, leg: str, due_ms: int) -> None:
        self._clock.call_at(due_ms, lambda: self._send_due(leg, due_ms))

    def _send_due(self, leg: str, due_ms: int) -> None:
        waiting = self._waiting[leg]
        due = 0
        while due < len(waiting) and waiting[due].due_ms <= due_ms:
            due += 1
        sent, self._waiting[leg] = waiting[:due], waiting[due:]
        if later := self._waiting[leg]:
            self._set_timer(leg, later[0].due_ms)
        else:
            del self._waiting[leg]
        for each in sent:
            self._send_one(each)

    def _send_one(self, waiting: _Waiting) -> None:
        live_call, pending = waiting.live_call, waiting.pending
        if waiting.generation != live_call.generation:
            return
        command = pending.command
        if isinstance(command, AnswerRefer) and live_call.call.leg(command.leg) is None:
            live_call.outbox.finish(pending)  # its phone has left
        else:
            self._send(live_call, pending)
