"""What is at hand when a call wants it: answered in the same breath, and stored in one commit."""

from collections import deque

from engine.calls.model.call import Call
from engine.calls.model.codec import logged
from engine.calls.model.commands import Command
from engine.calls.model.events import Event
from engine.calls.model.io_commands import FetchMedia, LoadNode
from engine.calls.model.io_results import MediaFetched
from engine.calls.step import step
from engine.runtime.base.ports import Errands


def answered(
    call: Call, commands: tuple[Command, ...], errands: Errands, log: list[bytes], now: int
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
        log.append(logged(now, told, more))
        left.extendleft(reversed(more))
    return call, wanted


def _known(call: Call, command: Command, errands: Errands) -> Event | None:
    match command:
        case FetchMedia(request=request, sources=sources):
            clips = errands.known(sources)
            return None if clips is None else MediaFetched(request, clips)
        case LoadNode():
            return errands.node(command, call)
        case _:
            return None
