"""The steps of calls as their engines ran them, so that not every log needs to be replayed."""

from collections.abc import Iterator, Sequence
from itertools import takewhile

from engine.calls.model.call import Call, Step
from engine.calls.model.events import Event
from engine.calls.model.storage_format import LogEntry, decode_call, decode_log_entry
from engine.calls.replay_audit import ReplayStep
from engine.calls.step import step

Ran = tuple[Call, Event, int, Step]


class LiveSteps:
    """Notes every step of every call, also those whose commit failed or whose engine died."""

    def __init__(self) -> None:
        self._ran: dict[str, list[Ran]] = {}

    def step(self, call: Call, event: Event, now: int) -> Step:
        """Step a call, as `engine.calls.step` does."""
        result = step(call, event, now)
        ran = self._ran.get(call.id)
        if ran is None:
            ran = self._ran[call.id] = []
        ran.append((call, event, now, result))
        return result

    def read(self, log: Sequence[bytes]) -> Iterator[ReplayStep]:
        """Read a log as `replay` does; a step with the same arguments has the same result."""
        if not log or not log[0]:
            return
        call = decode_call(log[0])
        ran, position = self._ran.get(call.id, []), 0
        for line in takewhile(bool, log[1:]):
            entry = decode_log_entry(line)
            found = _find(ran, position, call, entry)
            if found is None:  # no engine ran it from this state
                call, commands = step(call, entry.event, entry.now)
            else:
                position = found + 1
                call, commands = ran[found][-1]
            yield ReplayStep(entry.now, entry.event, commands, call, entry.digest)


def _find(ran: Sequence[Ran], first: int, before: Call, entry: LogEntry) -> int | None:
    for position in range(first, len(ran)):
        call, event, now, _ = ran[position]
        if now == entry.now and (call is before or call == before) and event == entry.event:
            return position
    return None
