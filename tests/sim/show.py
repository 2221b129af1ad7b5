"""One seed, told so that it can be read: what passed on the line, and each call's moments."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from engine.calls.model.commands import EmitEvent
from tests.harness.sim.clock import START_MS
from tests.sim.call_log import Story
from tests.sim.outcome import Outcome, Run
from tests.sim.quiet import quiet

LONG = {"verb", "action", "body", "data", "rest"}  # left out: a story is about what happened


def show(seed: int, run: Run, *, everything: bool) -> tuple[list[str], bool]:
    """Run a seed; give its lines, of the calls with a fault or of all, and whether it was sound."""
    passed: list[str] = []
    with quiet() as never:
        outcome = run(
            seed, never, trace=lambda at_ms, words: passed.append(f"{at_ms / 1000:9.3f} {words}")
        )
    kinds = ", ".join(sorted(outcome.world.faults.kinds)) or "none"
    names = _names(outcome, everything=everything)
    lines = [f"seed {seed}, faults: {kinds}; {len(outcome.told)} calls, {len(outcome.wrong)} wrong"]
    lines += [each for each in passed if "**" in each or any(name in each for name in names)]
    for story in outcome.told:
        if story.id in names:
            lines += ["", *_told(story)]
    lines += [f"WRONG {who}: {words}" for who, words in outcome.wrong]
    return lines, not outcome.wrong


def _names(outcome: Outcome, *, everything: bool) -> set[str]:
    """Name all that belongs to the calls with a fault."""
    who = {name for name, _ in outcome.wrong if name}
    found = set(who)
    for story in outcome.told:
        is_meant = any(name.startswith(story.id) or name == story.opened.main for name in who)
        if everything or is_meant:
            found |= {story.id, story.opened.main}
    return found


def _told(story: Story) -> Iterator[str]:
    call = story.opened
    yield f"{call.id}: {call.direction} from {call.from_} to {call.to}, {call.main}"
    yield f"{call.state}"
    for moment in story.moments:
        yield f"{(moment.at_ms - START_MS) / 1000:9.3f} {_short(moment.event)}"
        for command in moment.commands:
            yield f"              -> {_short(command)}"
        yield f"              = {_short(moment.call.state)}"


def _short(value: Any) -> str:
    match value:
        case EmitEvent(event):
            return f"Tell({event.event})"
        case Struct():
            fields = ((name, getattr(value, name)) for name in value.__struct_fields__)
            shown = (f"{name}={_short(each)}" for name, each in fields
                     if name not in LONG and each not in (None, "", 0, ()))  # fmt: skip
            return f"{type(value).__name__}({', '.join(shown)})"
        case tuple():
            return f"[{', '.join(map(_short, value))}]"
        case int() if value > START_MS:
            return f"{(value - START_MS) / 1000:.3f}"
        case _:
            return str(value)
