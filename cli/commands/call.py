"""`switchroom call`: the group of commands on calls; `call create` starts a call and watches it."""

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any

from cyclopts import App, Parameter
from rich.console import Console

from base.exit_status import ExitStatus
from cli.calls import Calls, fields_of
from cli.client import Client
from cli.command import call_command
from cli.commands import call_control, calls, replay
from cli.live.poll_call import follow_states
from cli.live.watch_call import follow_to_end, open_notifier
from cli.named_commands import with_example
from cli.options import parsing
from cli.options.connection import (
    DEFAULT_CONNECTION,
    ConnectionOptions,
    client_settings,
)
from cli.output import (
    OutputFlag,
    OutputFormat,
    PlainConsole,
    Shown,
    shown,
    write_shown,
)
from cli.timeline import screen
from cli.timeline.outcome import EXIT_STATUSES, outcome_text
from wire.views import CallView

call = App(
    name="call",
    help=with_example("Start, list, show and control calls.", "call list --state bridged"),
)
call.command(calls.calls, name="list")
call.command(calls.timeline)
call.command(replay.replay)
for _command in (
    call_control.show,
    call_control.mute,
    call_control.unmute,
    call_control.hold,
    call_control.unhold,
    call_control.dial,
    call_control.hangup,
):
    call.command(_command)


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


@dataclass(frozen=True)
class Placing:
    """How a call is started, and how its end is shown."""

    idempotency_key: str = ""
    output: OutputFormat = "table"


NO_OPTIONS = OriginateOptions()
DEFAULT_PLACING = Placing()


@call.default
@call.command(name="create")
@call_command
async def create(  # noqa: PLR0913 - one for each option
    source: Calls,
    file: Annotated[
        str | None, Parameter(help="JSON or @file with the request; @- for standard input.")
    ] = None,
    *,
    options: OriginateOptions = NO_OPTIONS,
    watch: Annotated[
        bool, Parameter(help="Watch the call until it ends.", negative="--no-watch")
    ] = True,
    idempotency_key: Annotated[
        str,
        Parameter(help="With the same key again, no second call is started: 8 to 64 letters."),
    ] = "",
    connection: ConnectionOptions = DEFAULT_CONNECTION,
    output: OutputFlag = "table",
) -> int | Shown:
    """Start a call from JSON or options, and watch it until it ends.

    Exit status: 0 completed, 1 failed, 3 busy, 4 no-answer, 5 canceled; 2 if no call was started.
    Ctrl-C leaves the call running. With --output json, standard output has the ended call only.

    Example: switchroom call create --from +4721930000 --to +4722222222 --flow menu
    """
    # Over REST the account is that of the key.
    account = client_settings(connection).account if isinstance(source, Client) else ""
    body = originate_body(parsing.document(file), options, account)
    console = PlainConsole(highlight=False, stderr=output != "table")
    if not watch:
        call_id = await source.originate(body, idempotency_key)
        return shown({"callId": call_id}, call_id)
    placing = Placing(idempotency_key, output)
    if isinstance(source, Client):
        return await place_and_watch(source, body, console, placing)
    return await _place_and_poll(source, body, console, placing)


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


async def place_and_watch(
    client: Client, body: dict[str, Any], console: Console, placing: Placing = DEFAULT_PLACING
) -> int:
    """Start a call, show it until it ends, and return the exit status for its result."""
    async with open_notifier(client) as notifier:
        call_id = await client.originate(body, placing.idempotency_key)
        try:
            with screen.open_screen(console) as view:
                timeline = await follow_to_end(client, call_id, notifier, view)
        except asyncio.CancelledError:
            console.print(_continues(call_id), soft_wrap=True)
            raise
    if console.is_terminal:
        screen.print_timeline(timeline, console)
    return _end(client, timeline.call, console, placing)


async def _place_and_poll(
    calls: Calls, body: dict[str, Any], console: Console, placing: Placing
) -> int:
    """Start a call over REST, which has no timeline of it before it ends; print its states."""
    call_id = await calls.originate(body, placing.idempotency_key)
    try:
        ended = await follow_states(calls, call_id, console)
    except asyncio.CancelledError:
        console.print(_continues(call_id), soft_wrap=True)
        raise
    return _end(calls, ended, console, placing)


def _end(calls: Calls, ended: CallView, console: Console, placing: Placing) -> int:
    """Print how a call ended, and return the exit status for it."""
    console.print(f"call {ended.call_id} {outcome_text(ended)}", soft_wrap=True)
    if placing.output != "table":
        write_shown(shown(fields_of(calls, ended)), placing.output)
    return EXIT_STATUSES.get(ended.status, ExitStatus.NEGATIVE)


def _continues(call_id: str) -> str:
    return f"call {call_id} continues; end it with: switchroom call hangup {call_id}"


def _object(text: str | None, name: str) -> dict[str, Any] | None:
    return None if text is None else parsing.mapping(text, name)
