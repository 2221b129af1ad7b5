"""`switchroom call list` and `call timeline`: the live calls, and the timeline of one call."""

import time
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Annotated, Literal

from cyclopts import Parameter
from rich.console import Console, Group
from rich.live import Live

from cli.adaptive_table import AdaptiveTable
from cli.calls import Calls, RestCalls, fields_of, timeline_of
from cli.client import open_client
from cli.command import call_command
from cli.errors import UsageError, key_named, run
from cli.live.follow import CallFollower
from cli.live.table import CallTable, render
from cli.options.channel_names import CallId
from cli.options.connection import (
    DEFAULT_CONNECTION,
    ConnectionOptions,
    client_settings,
    engine_address,
    engine_addresses,
)
from cli.output import OutputFlag, OutputFormat, Shown, shown, write_shown
from cli.rest_client import open_rest
from cli.timeline import screen, wording
from wire.views import CallView


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
    node: Annotated[str, Parameter(help="Only calls on this PBX node, for an operator.")] = ""

    def query(self) -> dict[str, str]:
        """Return the filters of the REST layer; raises UsageError."""
        if self.node:
            raise UsageError("--node: customers do not see PBX nodes; an operator's profile does")
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
            and self.node in {"", call.node}
        )


NO_FILTERS = CallFilters()


def calls(  # noqa: PLR0913 - one for each option
    *,
    account: Annotated[str, Parameter(help="Only calls of this account.")] = "",
    filters: CallFilters = NO_FILTERS,
    watch: Annotated[bool, Parameter(help="Keep the list current until Ctrl-C.")] = False,
    ended: Annotated[
        int, Parameter(help="Print the ids of this many of the latest ended calls instead.")
    ] = 0,
    connection: ConnectionOptions = DEFAULT_CONNECTION,
    output: OutputFlag = "table",
) -> None:
    """List the live calls, or the ids of ended ones.

    With several engines in --url, separated by commas, --watch survives the loss of one.

    Example: switchroom call list --state bridged --output json
    """
    if watch:
        is_alone = not ended and filters == NO_FILTERS and output == "table"
        run(_watch(account, connection, screen.table_console(), is_alone=is_alone))
    if ended:
        run(_ended(account, ended, connection, output, is_alone=filters == NO_FILTERS))
    run(_calls(account, filters, connection, output))


@call_command
async def timeline(calls: Calls, call_id: CallId) -> Shown:
    """Show a call's legs, verbs, digits and webhooks as a ladder diagram with times.

    Example: switchroom call timeline 3-pbx1-7f3a
    """
    fields = await calls.timeline_fields(call_id)
    view = timeline_of(calls, fields)
    return shown(fields, Group(*screen.ladder(view, Console(highlight=False))))


async def _calls(
    account: str, filters: CallFilters, connection: ConnectionOptions, output: OutputFormat
) -> None:
    settings = client_settings(connection)
    with key_named(settings.source):
        if settings.has_api and not connection.url:
            if account not in {"", settings.account}:
                raise UsageError("--account: over REST a key shows the calls of its own account")
            rest = RestCalls(open_rest(settings))
            _list(rest, await rest.calls(filters.query()), output)
            return
        async with open_client(*engine_address(connection, settings)) as client:
            found = await client.calls(account)
            _list(client, tuple(filter(filters.match, found)), output)


def _list(source: Calls, found: tuple[CallView, ...], output: OutputFormat) -> None:
    values = [fields_of(source, each) for each in found]
    write_shown(shown(values, calls_table(found, time.time() * 1000)), output)


async def _ended(
    account: str,
    limit: int,
    connection: ConnectionOptions,
    output: OutputFormat,
    *,
    is_alone: bool,
) -> None:
    if not is_alone or limit < 0:
        raise UsageError("--ended takes a number of calls, and no filter but --account")
    async with open_client(*engine_address(connection, client_settings(connection))) as client:
        found = await client.ended_calls(limit, account)
    write_shown(shown(found, *found), output)


async def _watch(
    account: str, connection: ConnectionOptions, console: Console, *, is_alone: bool
) -> None:
    if not is_alone:
        raise UsageError("--watch draws a table; of the other filters it takes --account only")
    table = CallTable()
    async with AsyncExitStack() as stack:
        engines = engine_addresses(connection, client_settings(connection))
        clients = [await stack.enter_async_context(open_client(*each)) for each in engines]
        follower = CallFollower(clients, account, table)

        def show() -> Group:
            return render(table, time.time() * 1000)

        stack.enter_context(Live(console=console, get_renderable=show, refresh_per_second=2))
        await follower.run()


def calls_table(views: tuple[CallView, ...], now_ms: float) -> AdaptiveTable | str:
    """Return a table of calls, the oldest first; `now_ms` is wall-clock time."""
    if not views:
        return "no live calls"
    rows = [
        (each.call_id, each.from_, each.to, each.status, each.state,
         wording.seconds(now_ms - each.created_ms))
        for each in sorted(views, key=lambda each: each.created_ms)
    ]  # fmt: skip
    return AdaptiveTable(("call", "from", "to", "status", "state", "age"), rows)
