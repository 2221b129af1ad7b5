"""`switchroom call`: the group of commands on calls; `call create` starts a call and watches it."""

import asyncio
import time
from dataclasses import dataclass
from typing import Annotated, Any

from cyclopts import App, Parameter
from rich.console import Console

from base.exit_status import ExitStatus
from cli.calls import fields_of, get_timeline, timeline_of
from cli.command import rest_command
from cli.commands import call_control, calls, replay
from cli.errors import RequestRejected, Unreachable, is_transient
from cli.help import with_example
from cli.options import parsing
from cli.output import OutputFlag, PlainConsole, Shown, shown, write_shown
from cli.rest_client import RestClient
from cli.timeline import screen
from cli.timeline.outcome import EXIT_STATUSES, outcome_text
from wire.views import Timeline

POLL_INTERVAL_S = 0.5
UNREACHABLE_TIMEOUT_S = 60.0

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
        Parameter(name="--from", help="Caller id of the account; another party is called first."),
    ] = None
    to: Annotated[str | None, Parameter(help="Number, agent:1001 or sip: address.")] = None
    action: Annotated[str | None, Parameter(help="JSON, @file, or a webhook URL.")] = None
    flow: Annotated[str | None, Parameter(help="Id of the stored flow to run.")] = None
    timeout: Annotated[float | None, Parameter(help="Ring timeout in seconds.")] = None
    custom_data: Annotated[str | None, Parameter(help="JSON or @file, for webhooks.")] = None
    contact: Annotated[str | None, Parameter(help="JSON or @file, for the flow's fields.")] = None


NO_OPTIONS = OriginateOptions()


@call.default
@call.command(name="create")
@rest_command
async def create(  # noqa: PLR0913 - one for each option
    rest: RestClient,
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
    output: OutputFlag = "table",
) -> int | Shown:
    """Start a call from JSON or options, and watch it until it ends.

    Exit status: 0 completed, 1 failed, 3 busy, 4 no-answer, 5 canceled; 2 if no call was started.
    Ctrl-C leaves the call running. With --output json, standard output has the ended call only.

    Example: switchroom call create --from +4721930000 --to +4722222222 --flow menu
    """
    console = PlainConsole(highlight=False, stderr=output != "table")
    call_id = await _originate(
        rest, originate_body(parsing.document(file), options), idempotency_key
    )
    if not watch:
        return shown({"callId": call_id}, call_id)
    ended = (await watch_call(rest, call_id, console)).call
    console.print(f"call {ended.call_id} {outcome_text(ended)}", soft_wrap=True)
    if output != "table":
        write_shown(shown(fields_of(ended)), output)
    return EXIT_STATUSES.get(ended.status, ExitStatus.NEGATIVE)


async def _originate(rest: RestClient, body: dict[str, Any], idempotency_key: str) -> str:
    headers = {"Idempotency-Key": idempotency_key} if idempotency_key else {}
    found = await rest.request(dict[str, Any], "POST", "voice", "call", body=body, headers=headers)
    return str(found["callId"])


def originate_body(given: dict[str, Any], options: OriginateOptions) -> dict[str, Any]:
    """Return the request: the fields of the file, overridden by options."""
    overrides = {
        "from": options.from_,
        "to": options.to,
        "action": None if options.action is None else parsing.action(options.action),
        "flowId": options.flow,
        "timeout": options.timeout,
        "customData": _object(options.custom_data, "--custom-data"),
        "contact": _object(options.contact, "--contact"),
    }
    return given | {name: value for name, value in overrides.items() if value is not None}


async def watch_call(rest: RestClient, call_id: str, console: Console) -> Timeline:
    """Show a call until it ends; raises Unreachable after a minute without a response."""
    try:
        with screen.open_screen(console) as view:
            found = await _follow_to_end(rest, call_id, view)
    except asyncio.CancelledError:
        text = f"call {call_id} continues; end it with: switchroom call hangup {call_id}"
        console.print(text, soft_wrap=True)
        raise
    if console.is_terminal:
        screen.print_timeline(found, console)
    return found


async def _follow_to_end(rest: RestClient, call_id: str, view: screen.Screen) -> Timeline:
    last: Timeline | None = None
    answered_s = time.monotonic()
    while True:
        try:
            last = timeline_of(await get_timeline(rest, call_id))
        except (Unreachable, RequestRejected) as error:
            is_over = time.monotonic() - answered_s > UNREACHABLE_TIMEOUT_S
            if last is None or is_over or not is_transient(error):
                raise
            view.show(last, f"{error}; the call continues, waiting")
        else:
            answered_s = time.monotonic()
            view.show(last)
            if last.call.ended_ms:
                return last
        await asyncio.sleep(POLL_INTERVAL_S)


def _object(text: str | None, name: str) -> dict[str, Any] | None:
    return None if text is None else parsing.mapping(text, name)
