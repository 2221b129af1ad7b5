"""`switchroom call list` and `call timeline`: the live calls, and the timeline of one call."""

import asyncio
import time
from collections import Counter
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from rich.console import Console, Group
from rich.live import Live

from base.timeline import wording
from cli.adaptive_table import AdaptiveTable
from cli.calls import call_view, fields_of, get_timeline, timeline_of
from cli.command import rest_command
from cli.errors import RequestRejected, Unreachable, UsageError, is_transient
from cli.options.call_parts import CallId
from cli.output import OutputFlag, Shown, shown, write_shown
from cli.rest_client import RestClient
from cli.timeline import screen
from wire.views import CallView, EndedCalls

Calls = tuple[CallView, ...]
POLL_INTERVAL_S = 1.0
MAX_PAGE = "1000"  # calls; one request a second is then enough to watch them
_STAGES = ("queued", "initiated", "ringing", "in-progress")  # of a live call, in order


@Parameter(name="*")
@dataclass(frozen=True)
class CallFilters:
    """Which live calls to list; a call must match all."""

    direction: Annotated[
        Literal["inbound", "outbound"] | None, Parameter(help="Only calls in this direction.")
    ] = None
    state: Annotated[str, Parameter(help="Only calls in this state, such as bridged.")] = ""
    number: Annotated[str, Parameter(help="Only calls from or to this number.")] = ""
    agent: Annotated[str, Parameter(help="Only calls with a live leg of this agent.")] = ""
    node: Annotated[
        str, Parameter(help="Only calls on this PBX node, of all accounts, for an operator.")
    ] = ""
    all_accounts: Annotated[bool, Parameter(help="Calls of all accounts, for an operator.")] = False

    def query(self) -> dict[str, str]:
        """Return the filters of an account's list."""
        found = {
            "direction": self.direction or "",
            "state": self.state,
            "number": self.number,
            "agentId": self.agent,
        }
        return {name: text for name, text in found.items() if text}

    def match(self, call: CallView) -> bool:
        """Return whether a call matches, as the REST layer decides it."""
        agents = {leg.agent_id for leg in call.legs}
        return (
            self.direction in {None, call.direction}
            and self.state in {"", call.state}
            and self.number in {"", call.from_, call.to}
            and (not self.agent or self.agent in agents)
        )


NO_FILTERS = CallFilters()


@rest_command
async def calls(
    rest: RestClient,
    *,
    filters: CallFilters = NO_FILTERS,
    watch: Annotated[bool, Parameter(help="Keep the list current until Ctrl-C.")] = False,
    ended: Annotated[
        int, Parameter(help="Print the ids of this many of the latest ended calls instead.")
    ] = 0,
    output: OutputFlag = "table",
) -> None:
    """List the live calls, or the ids of ended ones.

    Example: switchroom call list --state bridged --output json
    """
    if watch:
        if ended or output != "table":
            raise UsageError("--watch draws a table of live calls")
        await _watch(rest, filters, screen.table_console())
    if ended:
        write_shown(await _ended(rest, filters, ended), output)
        return
    found = await _live(rest, filters)
    table = calls_table(found, time.time() * 1000)
    write_shown(shown([fields_of(each) for each in found], table), output)


@rest_command
async def timeline(rest: RestClient, call_id: CallId) -> Shown:
    """Show a call's legs, verbs, digits and webhooks as a ladder diagram with times.

    Example: switchroom call timeline 3-pbx1-7f3a
    """
    fields = await get_timeline(rest, call_id)
    view = timeline_of(fields)
    return shown(fields, Group(*screen.ladder(view, Console(highlight=False))))


async def _live(rest: RestClient, filters: CallFilters) -> Calls:
    if not (filters.all_accounts or filters.node):
        rows = rest.rows("voice", "calls", query=filters.query() | {"limit": MAX_PAGE})
        return tuple([call_view(each) async for each in rows])
    query = {"node": filters.node} if filters.node else {}
    page = await rest.request(dict[str, Any], "GET", "operations", "calls", query=query)
    return tuple(filter(filters.match, map(call_view, page["data"])))


async def _ended(rest: RestClient, filters: CallFilters, limit: int) -> Shown:
    if filters not in {NO_FILTERS, CallFilters(all_accounts=True)} or limit < 0:
        raise UsageError("--ended takes a number of calls, and no filter but --all-accounts")
    path = ("operations" if filters.all_accounts else "voice", "calls", "ended")
    found = await rest.request(EndedCalls, "GET", *path, query={"limit": str(limit)})
    return shown(found.call_ids, *found.call_ids)


async def _watch(rest: RestClient, filters: CallFilters, console: Console) -> None:
    """Draw the list every second until cancelled; what fails at the start is an error."""
    table = CallTable(await _live(rest, filters))

    def draw() -> Group:
        return table.render(time.time() * 1000)

    with Live(console=console, get_renderable=draw, refresh_per_second=2):
        while True:
            await asyncio.sleep(POLL_INTERVAL_S)
            try:
                table.update(await _live(rest, filters))
            except (Unreachable, RequestRejected) as error:
                if not is_transient(error):
                    raise
                table.note = f"{error}; trying again"


class CallTable:
    """The live calls as they were last listed, and how many have ended since the first list."""

    def __init__(self, listed: Calls) -> None:
        self.calls = listed
        self.ended = 0
        self.note = ""  # why the table is not current

    def update(self, listed: Calls) -> None:
        """Replace the calls."""
        present = {each.call_id for each in listed}
        self.ended += sum(each.call_id not in present for each in self.calls)
        self.calls, self.note = listed, ""

    def render(self, now_ms: float) -> Group:
        """Draw the number of calls by status, then each call, the oldest first."""
        notes = [self.note] if self.note else []
        return Group(self.summary(), *notes, calls_table(self.calls, now_ms))

    def summary(self) -> str:
        """Return the number of calls by status."""
        live = Counter(each.status for each in self.calls)
        now = ", ".join(f"{live[each]} {each}" for each in _STAGES if live[each])
        text = f"{len(self.calls)} live" + (f": {now}" if now else "")
        return f"{text}; ended since start: {self.ended}" if self.ended else text


def calls_table(views: Calls, now_ms: float) -> AdaptiveTable | str:
    """Return a table of calls, the oldest first; `now_ms` is wall-clock time.

    Only an operator's list has nodes, and calls of several accounts.
    """
    if not views:
        return "no live calls"
    has_nodes = any(each.node for each in views)
    headings = ("call", "from", "to", "status", "state", "age")
    rows = [
        (each.call_id, each.from_, each.to, each.status, each.state,
         wording.seconds(now_ms - each.created_ms),
         *((each.account, each.node) if has_nodes else ()))
        for each in sorted(views, key=lambda each: each.created_ms)
    ]  # fmt: skip
    return AdaptiveTable((*headings, *(("account", "node") if has_nodes else ())), rows)
