"""A live call in memory: its value, its outbox and one timer; data, not a task (design fact 16)."""

from engine.calls.call import Call
from engine.calls.commands import Command, PbxCommand
from engine.runtime.clock import Timer


class Actor:
    """What an engine holds of a call between two events."""

    __slots__ = ("armed_ms", "busy", "call", "logged", "outbox", "queue", "timer")

    def __init__(self, call: Call, outbox: tuple[Command, ...] = (), logged: int = 0) -> None:
        self.call = call
        self.outbox: list[Command] = list(outbox)  # wanted, and not yet done
        self.queue: list[PbxCommand] = []  # to be sent to the PBX, one after another
        self.busy = False  # whether the first of them is on its way
        self.logged = logged  # lines of the log that were written
        self.timer: Timer | None = None
        self.armed_ms = 0

    def did(self, command: Command) -> None:
        """Take a command off the outbox: it is done."""
        if command in self.outbox:
            self.outbox.remove(command)
