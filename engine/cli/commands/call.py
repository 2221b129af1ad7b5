"""`switchroom call`: starts a call and watches it."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import Console

from engine.cli.client import Client
from engine.cli.command import client_command
from engine.cli.live.watch_call import follow_to_end, open_notifier
from engine.cli.options import parsing
from engine.cli.options.connection import ClientSettings
from engine.cli.timeline import screen
from engine.cli.timeline.outcome import EXIT_STATUSES, outcome_text
from wire.settings import load


@Parameter(name="*")
@dataclass(frozen=True)
class OriginateOptions:
    """The call to start; options override the fields of the file."""

    from_: Annotated[
        str | None,
        Parameter(name="--from", help="Caller id, or the first party with --from-first."),
    ] = None
    to: Annotated[str | None, Parameter(help="Number, agent:1001 or sip: address.")] = None
    action: Annotated[str | None, Parameter(help="JSON, @file, or a webhook URL.")] = None
    flow: Annotated[str | None, Parameter(help="Id of the stored flow to run.")] = None
    from_first: Annotated[
        bool, Parameter(help="Dial --from first, then --to, and bridge them.")
    ] = False
    timeout: Annotated[float | None, Parameter(help="Ring timeout in seconds.")] = None
    caller_id: Annotated[str | None, Parameter(help="Caller id to show.")] = None
    custom_data: Annotated[str | None, Parameter(help="JSON or @file, for webhooks.")] = None
    contact: Annotated[str | None, Parameter(help="JSON or @file, for the flow's fields.")] = None
    account: Annotated[
        str | None, Parameter(help="Account, any name; default: SWITCHROOM_ACCOUNT.")
    ] = None
    node: Annotated[str | None, Parameter(help="PBX node; default: the engine chooses.")] = None


NO_OPTIONS = OriginateOptions()


@client_command
async def call(
    client: Client,
    file: Annotated[
        Path | None, Parameter(help="JSON file with the request; - for standard input.")
    ] = None,
    *,
    options: OriginateOptions = NO_OPTIONS,
    watch: Annotated[
        bool, Parameter(help="Watch the call until it ends.", negative="--no-watch")
    ] = True,
) -> int:
    """Start a call from a JSON file or options, and watch it until it ends.

    Exit status: 0 completed, 1 failed, 3 busy, 4 no-answer, 5 canceled; 2 if no call was started.
    Ctrl-C leaves the call running.
    """
    body = originate_body(parsing.document(file), options, load(ClientSettings).account)
    console = Console(highlight=False)
    if watch:
        return await place_and_watch(client, body, console)
    console.print(await client.originate(body), soft_wrap=True)
    return 0


def originate_body(
    given: dict[str, Any], options: OriginateOptions, account: str
) -> dict[str, Any]:
    """Return the request: the fields of the file, overridden by options."""
    overrides = {
        "from": options.from_,
        "to": options.to,
        "action": None if options.action is None else parsing.action(options.action),
        "flowId": options.flow,
        "fromFirst": options.from_first or None,
        "timeout": options.timeout,
        "callerId": options.caller_id,
        "customData": _object(options.custom_data, "--custom-data"),
        "contact": _object(options.contact, "--contact"),
        "account": options.account,
        "node": options.node,
    }
    default = {"account": account} if account else {}
    return default | given | {name: value for name, value in overrides.items() if value is not None}


async def place_and_watch(client: Client, body: dict[str, Any], console: Console) -> int:
    """Start a call, show it until it ends, and return the exit status for its result."""
    async with open_notifier(client) as notifier:
        call_id = await client.originate(body)
        try:
            with screen.open_screen(console) as view:
                timeline = await follow_to_end(client, call_id, notifier, view)
        except asyncio.CancelledError:
            hint = f"call {call_id} continues; end it with: switchroom hangup {call_id}"
            console.print(hint, soft_wrap=True)
            raise
    if console.is_terminal:
        screen.print_timeline(timeline, console)
    console.print(f"call {call_id} {outcome_text(timeline.call)}", soft_wrap=True)
    return EXIT_STATUSES.get(timeline.call.status, 1)


def _object(text: str | None, name: str) -> dict[str, Any] | None:
    return None if text is None else parsing.mapping(text, name)
