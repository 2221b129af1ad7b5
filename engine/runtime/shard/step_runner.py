"""A call's steps on a desk: stepped at once, committed with others, then done what they want."""

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial

from engine.calls.model.call import Call
from engine.calls.model.codec import encode_log_entry
from engine.calls.model.commands import Answer, Command, EmitEvent, Play
from engine.calls.model.events import Event, Recovered
from engine.calls.model.io_commands import FetchMedia, LoadFlowNode, PrefetchMedia
from engine.calls.model.io_results import MediaFetched
from engine.calls.step import step
from engine.runtime.base.clock import Clock
from engine.runtime.base.ports import IoRunner, Writer
from engine.runtime.shard.actor import Actor
from engine.runtime.shard.executor import CommandExecutor

# Done before they are stored: a call that was lost with them is taken in anew, as it stands.
BEFORE_COMMIT = (Answer, PrefetchMedia)
NOT_AFTER_COMMIT = (
    EmitEvent,
    *BEFORE_COMMIT,
)  # what is not done once it is stored: told by being stored, or early
OnStored = Callable[[], None]


def no_op() -> None:
    """Nobody waits."""


class StepRunner:
    """Takes calls from event to commit to command, in that order (design section 3.5)."""

    def __init__(  # noqa: PLR0913 - collaborators are passed in
        self,
        node: str,
        clock: Clock,
        writer: Writer,
        errands: IoRunner,
        performer: CommandExecutor,
        *,
        is_held: Callable[[], bool],
    ) -> None:
        self._node = node
        self._is_paused = is_held
        self._clock = clock
        self._writer = writer
        self._io = errands
        self._executor = performer

    def step(self, actor: Actor, event: Event, first: tuple[bytes, ...], stored: OnStored) -> bool:
        """Step a call; tells whether that changed anything.

        `first` goes before it into the log, `stored` is called once it is there.
        """
        now = self._clock.now_ms()
        call, commands = step(actor.call, event, now)
        is_asked = stored is not no_op  # who asks is answered when all before is stored, too
        if call is actor.call and not (commands or is_asked or isinstance(event, Recovered)):
            return False  # what changes nothing leaves no trace, but for the engine's own deaths
        log = [*first, encode_log_entry(now, event, commands)]
        actor.call, wanted = answer_from_cache(call, commands, self._io, log, now)
        self._commit(actor, wanted, log, stored)
        return True

    def _commit(
        self, actor: Actor, wanted: list[Command], log: list[bytes], stored: OnStored
    ) -> None:
        change = actor.prepare_commit(wanted, log, self._node)
        early = [each for each in wanted if isinstance(each, BEFORE_COMMIT)]
        todo = [each for each in wanted if not isinstance(each, NOT_AFTER_COMMIT)]
        actor.uncommitted += todo
        done = partial(self._on_committed, actor, todo, stored)
        self._writer.write(change, done, urgent=bool(todo))
        if early:
            self._executor.execute(actor, early)

    def _on_committed(self, actor: Actor, todo: Sequence[Command], stored: OnStored) -> None:
        stored()
        due = actor.mark_committed(todo)
        if self._is_paused():
            # A recovery may have looked already, and asks for a prompt that it did not see. All
            # else can be done twice; Asterisk plays an id as often as it is asked to.
            due = [each for each in due if not isinstance(each, Play)]
        if due:
            self._executor.execute(actor, due)


def answer_from_cache(
    call: Call, commands: tuple[Command, ...], errands: IoRunner, log: list[bytes], now: int
) -> tuple[Call, list[Command]]:
    """Step a call through what it is told at once; gives it with what is left to be done.

    The log gets a line for each such step.
    """
    wanted: list[Command] = []
    left = deque(commands)
    while left:
        command = left.popleft()
        told = _known(call, command, errands)
        if told is None:
            wanted.append(command)
            continue
        call, more = step(call, told, now)
        log.append(encode_log_entry(now, told, more))
        left.extendleft(reversed(more))
    return call, wanted


def _known(call: Call, command: Command, errands: IoRunner) -> Event | None:
    match command:
        case FetchMedia(request=request, sources=sources):
            clips = errands.cached_clips(sources)
            return None if clips is None else MediaFetched(request, clips)
        case LoadFlowNode():
            return errands.cached_node(command, call)
        case _:
            return None
