"""`switchroom call`: place a call, and watch it."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import Console

from engine.cli.client import Client, open_client
from engine.cli.errors import run
from engine.cli.live.watch_call import follow_to_end, open_notifier
from engine.cli.options import parsing
from engine.cli.options.connection import (
    DEFAULT_CONNECTION,
    ClientSettings,
    ConnectionOptions,
    engine_address,
)
from engine.cli.timeline import screen
from engine.cli.timeline.outcome import EXIT_STATUSES, outcome_text


@Parameter(name="*")
@dataclass(frozen=True)
class OriginateOptions:
    """The call to place; what is given here goes before what the file says."""

    from_: Annotated[str | None, Parameter(name="--from", help="Caller id, or first party.")] = None
    to: Annotated[str | None, Parameter(help="Number, agent:1001 or sip: engine_address.")] = None
    action: Annotated[str | None, Parameter(help="JSON, @file, or an engine_address to ask.")] = (
        None
    )
    flow: Annotated[str | None, Parameter(help="Stored flow to run.")] = None
    from_first: Annotated[bool, Parameter(help="Call --from, then --to, bridge them.")] = False
    timeout: Annotated[float | None, Parameter(help="Seconds to let it ring.")] = None
    caller_id: Annotated[str | None, Parameter(help="Number to show.")] = None
    custom_data: Annotated[str | None, Parameter(help="JSON or @file, for webhooks.")] = None
    contact: Annotated[str | None, Parameter(help="JSON or @file, for the flow's fields.")] = None
    account: Annotated[str | None, Parameter(help="Default: SWITCHROOM_ACCOUNT.")] = None
    node: Annotated[str | None, Parameter(help="PBX node; default: the engine chooses.")] = None


NO_OPTIONS = OriginateOptions()


def call(
    file: Path | None = None,
    *,
    asked: OriginateOptions = NO_OPTIONS,
    watch: Annotated[bool, Parameter(help="Stay until it ends.", negative="--no-watch")] = True,
    where: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """Place a call, from a JSON file or flags, and watch it to its end.

    Exit status: 0 completed, 1 failed, 3 busy, 4 no-answer, 5 canceled; 2 when no call was made.
    Ctrl-C leaves the call running.
    """
    run(_call(file, asked, watch, where))


async def _call(
    file: Path | None, asked: OriginateOptions, watch: bool, where: ConnectionOptions
) -> int:
    settings = ClientSettings()
    body = originate_body(parsing.document(file), asked, settings.account)
    console = Console(highlight=False)
    async with open_client(*engine_address(where, settings)) as client:
        if watch:
            return await place_and_watch(client, body, console)
        console.print(await client.originate(body), soft_wrap=True)
        return 0


def originate_body(given: dict[str, Any], asked: OriginateOptions, account: str) -> dict[str, Any]:
    """Give the request: the file's fields, over them the flags; the engine checks it."""
    flags = {
        "from": asked.from_,
        "to": asked.to,
        "action": None if asked.action is None else parsing.action(asked.action),
        "flowId": asked.flow,
        "fromFirst": asked.from_first or None,
        "timeout": asked.timeout,
        "callerId": asked.caller_id,
        "customData": _object(asked.custom_data, "--custom-data"),
        "contact": _object(asked.contact, "--contact"),
        "account": asked.account,
        "node": asked.node,
    }
    named = {"account": account} if account else {}
    return named | given | {name: value for name, value in flags.items() if value is not None}


async def place_and_watch(client: Client, body: dict[str, Any], console: Console) -> int:
    """Place a call, show it to its end, and return the exit status that tells how it ended."""
    async with open_notifier(client) as news:
        call_id = await client.originate(body)
        try:
            with screen.open_screen(console) as live:
                timeline = await follow_to_end(client, call_id, news, live)
        except asyncio.CancelledError:
            goes_on = f"call {call_id} goes on; end it with: switchroom hangup {call_id}"
            console.print(goes_on, soft_wrap=True)
            raise
    if console.is_terminal:
        screen.print_timeline(timeline, console)
    console.print(f"call {call_id} {outcome_text(timeline.call)}", soft_wrap=True)
    return EXIT_STATUSES.get(timeline.call.status, 1)


def _object(text: str | None, name: str) -> dict[str, Any] | None:
    return None if text is None else parsing.mapping(text, name)
