"""The outbox of a live call: one list of its commands, with how far each has got."""

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum, auto

from msgspec import Struct

from engine.calls.model.commands import Command, EmitEvent


class CommandState(Enum):
    """How far a command has got; it moves forward only, until a recovery repeats it."""

    UNCOMMITTED = auto()  # its step is not stored
    COMMITTED = auto()  # stored; this engine, or the next owner, may execute it
    QUEUED = auto()  # waits until the PBX has replied to an earlier command
    SENT = auto()  # the PBX, or what else executes it, may have it
    DONE = auto()  # acknowledged or obsolete: no longer in the outbox


class PendingCommand(Struct, eq=False):
    """A command of an outbox; compared by identity: music may be started, stopped and started."""

    command: Command
    state: CommandState
    is_repeated: bool = False  # by a recovery: it may have been executed before


class Outbox:
    """The commands of a call that are neither acknowledged nor obsolete, in their order."""

    __slots__ = ("_pending",)

    def __init__(self, stored: Iterable[Command] = ()) -> None:
        """Take the stored commands of a call: its last owner may have sent each of them."""
        self._pending = [PendingCommand(each, CommandState.SENT) for each in stored]

    def __iter__(self) -> Iterator[PendingCommand]:
        return iter(self._pending)

    def __len__(self) -> int:
        return len(self._pending)

    @property
    def commands(self) -> tuple[Command, ...]:
        """The commands, as they are stored."""
        return tuple(each.command for each in self._pending)

    def add(self, commands: Iterable[Command]) -> list[PendingCommand]:
        """Add the commands of a step; events are emitted by its commit itself."""
        added = [
            PendingCommand(each, CommandState.UNCOMMITTED)
            for each in commands
            if not isinstance(each, EmitEvent)
        ]
        self._pending += added
        return added

    def find(self, state: CommandState) -> list[PendingCommand]:
        """Return the commands in a state."""
        return [each for each in self._pending if each.state is state]

    def finish(self, *commands: PendingCommand) -> None:
        """Remove commands that are acknowledged or obsolete."""
        for each in commands:
            if each.state is not CommandState.DONE:
                each.state = CommandState.DONE
                self._pending.remove(each)

    def recover(self, redo: Sequence[Command]) -> list[PendingCommand]:
        """Remove all commands but those to redo; return the committed ones of them.

        The others, as a prompt that is over, are obsolete even if their commit follows.
        """
        kept = {id(each) for each in redo}
        self.finish(*(each for each in self if id(each.command) not in kept))
        committed = [e for e in self if e.state is not CommandState.UNCOMMITTED]
        for each in committed:
            each.state, each.is_repeated = CommandState.COMMITTED, True
        return committed


def mark_committed(commands: Iterable[PendingCommand]) -> list[PendingCommand]:
    """Return those of the commands whose commit was awaited: a recovery may have ended others."""
    due = [each for each in commands if each.state is CommandState.UNCOMMITTED]
    for each in due:
        each.state = CommandState.COMMITTED
    return due
