"""`switchroom call replay`: checks that the core still makes the same decisions for a call."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Any

from cyclopts import Parameter

from base.exit_status import ExitStatus
from cli.command import rest_command
from cli.errors import UsageError
from cli.output import Shown
from cli.rest_client import RestClient
from wire.views import EndedCalls, Replay, ReplayDifference

SAME, DIFFERENT, INCOMPLETE = ExitStatus.DONE, ExitStatus.NEGATIVE, ExitStatus.INCOMPLETE


@rest_command
async def replay(
    rest: RestClient,
    call_id: Annotated[str, Parameter(help="Call id; omit it with --all-ended.")] = "",
    *,
    all_ended: Annotated[
        int, Parameter(help="Audit this many of the latest ended calls instead.")
    ] = 0,
) -> Shown:
    """Replay a call's log through the core; exit status 1 if its decisions differ.

    It compares the commands for each event, the emitted call events and the final state.
    Operators only; calls may be of any account.
    Exit status 6: a part of the log is lost, and the rest is the same.

    Example: switchroom call replay --all-ended 20
    """
    if bool(call_id) == (all_ended > 0):
        raise UsageError("either a call id or --all-ended is required")
    path, query = ("operations", "calls"), {"limit": str(all_ended)}
    if call_id:
        ids: tuple[str, ...] = (call_id,)
    else:
        ids = (await rest.request(EndedCalls, "GET", *path, "ended", query=query)).call_ids
    audits = [await rest.request(Replay, "GET", *path, each, "replay") for each in ids]
    about = [line for each in audits if call_id or not each.is_same for line in lines(each)]
    items = about if call_id else [*about, summary(audits)]
    return Shown(audits[0] if call_id else audits, tuple(items), status(audits))


def status(audits: list[Replay]) -> int:
    """Return the exit status for the audits."""
    if not all(audit.is_same for audit in audits):
        return DIFFERENT
    return INCOMPLETE if any(audit.gap is not None for audit in audits) else SAME


def summary(audits: list[Replay]) -> str:
    """Summarize several audits in one line."""
    same = sum(audit.is_same for audit in audits)
    gaps = sum(audit.gap is not None for audit in audits)
    compared = sum(audit.compared for audit in audits)
    lost = f", {gaps} with a gap in the log" if gaps else ""
    return f"{same} of {len(audits)} calls replay the same, {compared} decisions compared{lost}"


def lines(audit: Replay) -> Iterator[str]:
    result = "replays the same" if audit.is_same else "DECISIONS DIFFER"
    yield f"call {audit.call_id}{' (live)' if audit.is_live else ''}: {result}"
    yield f"  log: {audit.lines} lines, {audit.compared} decisions compared"
    if audit.gap is not None:
        yield (
            f"  GAP at line {audit.gap}: the store has lost it; only what came before was replayed"
        )
    trimmed = f", {audit.trimmed} of them already trimmed from the stream" if audit.trimmed else ""
    yield f"  events: {audit.events}{trimmed}"
    for each in audit.differences:
        yield from _difference(each)


def _difference(found: ReplayDifference) -> Iterator[str]:
    position = f"line {found.line}, {_time(found.at_ms)}" if found.line else "at the end"
    event = f", event {_short(found.event)}" if found.event else ""
    yield f"  {found.about}, {position}{event}: {found.detail}"
    if found.about == "commands":
        now = [f"    now: {_short(each)}" for each in found.commands]
        yield from now or ["    now: no commands"]


def _short(tagged: dict[str, Any]) -> str:
    fields = (f"{name}={value}" for name, value in tagged.items() if name not in {"type", "event"})
    inner = tagged.get("event")
    kind = inner.get("event", "") if isinstance(inner, dict) else ""
    return f"{tagged['type']}({', '.join(filter(None, (kind, *fields)))})"


def _time(at_ms: int) -> str:
    at = datetime.fromtimestamp(at_ms / 1000, UTC)
    return f"{at:%Y-%m-%d %H:%M:%S}.{at_ms % 1000:03} UTC"
