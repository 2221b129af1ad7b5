"""One seed in readable form: the traffic with the PBX, and the steps of each call."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from engine.calls.model.commands import EmitEvent
from tests.harness.sim.clock import START_MS
from tests.sim.call_histories import CallHistory
from tests.sim.engine_log import silenced_log
from tests.sim.runs.outcome import Outcome, Run

HIDDEN_FIELDS = {
    "verb",
    "action",
    "body",
    "data",
    "rest",
}  # left out for brevity


def show(seed: int, run: Run, *, everything: bool) -> tuple[list[str], bool]:
    """Run a seed; return lines about its faulty calls or all, and whether no check failed."""
    passed: list[str] = []
    with silenced_log() as forbidden:
        outcome = run(
            seed,
            forbidden,
            trace=lambda at_ms, message: passed.append(f"{at_ms / 1000:9.3f} {message}"),
        )
    kinds = ", ".join(sorted(outcome.world.faults.kinds)) or "none"
    names = _names(outcome, everything=everything)
    lines = [
        (
            f"seed {seed}, faults: {kinds}; {len(outcome.histories)} calls,"
            f" {len(outcome.violations)} violations"
        )
    ]
    lines += [each for each in passed if "**" in each or any(name in each for name in names)]
    for history in outcome.histories:
        if history.id in names:
            lines += ["", *_render(history)]
    lines += [f"VIOLATION {subject}: {message}" for subject, message in outcome.violations]
    return lines, not outcome.violations


def _names(outcome: Outcome, *, everything: bool) -> set[str]:
    """Return all ids of the calls with a violation."""
    faulty = {name for name, _ in outcome.violations if name}
    found = set(faulty)
    for history in outcome.histories:
        main = history.opened.main
        is_faulty = any(name.startswith(history.id) or name == main for name in faulty)
        if everything or is_faulty:
            found |= {history.id, history.opened.main}
    return found


def _render(history: CallHistory) -> Iterator[str]:
    call = history.opened
    yield f"{call.id}: {call.direction} from {call.from_} to {call.to}, {call.main}"
    yield f"{call.state}"
    for step in history.steps:
        yield f"{(step.at_ms - START_MS) / 1000:9.3f} {_short(step.event)}"
        for command in step.commands:
            yield f"              -> {_short(command)}"
        yield f"              = {_short(step.call.state)}"


def _short(value: Any) -> str:
    match value:
        case EmitEvent(event):
            return f"EmitEvent({event.event})"
        case Struct():
            fields = ((name, getattr(value, name)) for name in value.__struct_fields__)
            shown = (f"{name}={_short(each)}" for name, each in fields
                     if name not in HIDDEN_FIELDS and each not in (None, "", 0, ()))  # fmt: skip
            return f"{type(value).__name__}({', '.join(shown)})"
        case frozenset():
            return f"{{{', '.join(sorted(map(_short, value)))}}}"
        case tuple():
            return f"[{', '.join(map(_short, value))}]"
        case int() if value > START_MS:
            return f"{(value - START_MS) / 1000:.3f}"
        case _:
            return str(value)
