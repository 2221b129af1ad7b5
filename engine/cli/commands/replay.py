"""`switchroom replay`: whether the core still decides what it decided when a call was live."""

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Any

import msgspec
from cyclopts import Parameter

from engine.cli import call_view
from engine.cli.client import open_client
from engine.cli.errors import UsageError, run
from engine.cli.options.connection import (
    DEFAULT_CONNECTION,
    ClientSettings,
    ConnectionOptions,
    engine_address,
)
from wire.replay import Difference, Replay

SAME, DIFFERENT, INCOMPLETE = 0, 1, 3  # exit statuses


def replay(
    call_id: str = "",
    *,
    all_ended: Annotated[
        int, Parameter(help="Audit so many of the calls that ended last instead.")
    ] = 0,
    json: Annotated[bool, Parameter(help="As the RPC gives it, a line a call.")] = False,
    where: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """Run a call's log through the core again; exit status 1 if it decides otherwise now.

    Compared are the commands that were decided upon each event, what was told, and the state that
    all of it leads to. Status 3: a part of the log is lost, and the rest is the same.
    """
    run(_replay(call_id, all_ended, json, where))


async def _replay(call_id: str, most: int, json: bool, where: ConnectionOptions) -> int:
    if bool(call_id) == (most > 0):
        raise UsageError("which call? name one, or how many by --all-ended")
    found: list[Replay] = []
    async with open_client(*engine_address(where, ClientSettings())) as client:
        for each in [call_id] if call_id else await client.ended(most):
            found.append(audit := await client.replay(each))
            _put(audit, json, is_one=bool(call_id))
    if not (call_id or json):
        call_view.write(summary(found))
    return status(found)


def _put(audit: Replay, json: bool, *, is_one: bool) -> None:
    if json:
        sys.stdout.buffer.write(msgspec.json.encode(audit) + b"\n")
    elif is_one or not audit.is_same:
        call_view.write(*lines(audit))


def status(audits: list[Replay]) -> int:
    """Tell by an exit status what was found."""
    if not all(audit.is_same for audit in audits):
        return DIFFERENT
    return INCOMPLETE if any(audit.gap is not None for audit in audits) else SAME


def summary(audits: list[Replay]) -> str:
    """Tell in a line what many audits have shown."""
    same = sum(audit.is_same for audit in audits)
    gaps = sum(audit.gap is not None for audit in audits)
    compared = sum(audit.compared for audit in audits)
    lost = f", {gaps} with a gap in the log" if gaps else ""
    return f"{same} of {len(audits)} calls replay the same, {compared} decisions compared{lost}"


def lines(audit: Replay) -> Iterator[str]:
    """Tell an audit."""
    verdict = "replays the same" if audit.is_same else "DECIDES OTHERWISE NOW"
    yield f"call {audit.call_id}{' (live)' if audit.is_live else ''}: {verdict}"
    yield f"  log: {audit.lines} lines, {audit.compared} decisions compared"
    if audit.gap is not None:
        yield (
            f"  GAP at line {audit.gap}: the store has lost it, so what came after can't be "
            "run again; this is about what came before"
        )
    gone = f", {audit.trimmed} of them no longer on the stream" if audit.trimmed else ""
    yield f"  events: {audit.events}{gone}"
    for each in audit.differences:
        yield from _difference(each)


def _difference(found: Difference) -> Iterator[str]:
    where = f"line {found.line}, {_time(found.at_ms)}" if found.line else "at the end"
    upon = f", upon {_short(found.event)}" if found.event else ""
    yield f"  {found.about}, {where}{upon}: {found.detail}"
    if found.about == "commands":
        now = [f"    now: {_short(each)}" for each in found.commands]
        yield from now or ["    now: nothing"]


def _short(named: dict[str, Any]) -> str:
    fields = (f"{name}={value}" for name, value in named.items() if name not in {"type", "event"})
    inner = named.get("event")
    told = inner.get("event", "") if isinstance(inner, dict) else ""
    return f"{named['type']}({', '.join(filter(None, (told, *fields)))})"


def _time(at_ms: int) -> str:
    at = datetime.fromtimestamp(at_ms / 1000, UTC)
    return f"{at:%Y-%m-%d %H:%M:%S}.{at_ms % 1000:03} UTC"
