"""`switchroom transfer start`, `complete` and `cancel`."""

from typing import Annotated, Any

from cyclopts import App, Parameter

from cli import call_view
from cli.calls import get_call
from cli.command import rest_command
from cli.help import with_example
from cli.options.call_parts import (
    DEFAULT_REQUESTER,
    NO_PARTY,
    CallId,
    PartyOptions,
    Requester,
    leg_of,
    transfer_of,
)
from cli.output import Shown, shown
from cli.rest_client import RestClient
from wire.control import TransferView
from wire.party import Party

Source = Annotated[
    str,
    Parameter(
        name="--from", help="Channel of the source: main, agent id, number, or end of its id."
    ),
]
Customer = Annotated[
    str, Parameter(help="Channel of the customer: main, agent id, number, or end of its id.")
]
Session = Annotated[str, Parameter(help="Transfer session id or its end; default: the latest.")]

transfer = App(
    name="transfer",
    help=with_example(
        "Transfer the customer of a call to another party.", "transfer complete 3-pbx1-7f3a"
    ),
)


@transfer.default
@transfer.command
@rest_command
async def start(  # noqa: PLR0913 - one for each option
    rest: RestClient,
    call_id: CallId,
    *,
    source: Source,
    customer: Customer,
    party: PartyOptions = NO_PARTY,
    blind: Annotated[bool, Parameter(help="The source leaves when the target rings.")] = False,
) -> Shown:
    """Transfer the customer of a call from the source (--from) to another party.

    Without --blind, run `transfer complete` to finish, or let the source hang up.

    Example: switchroom transfer start 3-pbx1-7f3a --from 1001 --customer main --agent 1002
    """
    target = party.target()
    call = await get_call(rest, call_id)
    leg = leg_of(call, source)
    body: dict[str, Any] = {
        "sourceAgentId": leg.agent_id or Party.parse(leg.party).agent_id or DEFAULT_REQUESTER,
        "transferMode": "blind" if blind else "attended",
        "sourceChannelId": leg.channel_id,
        "customerChannelId": leg_of(call, customer).channel_id,
        "target": target,
        **party.ringing(),
    }
    return await _post(rest, call_id, "init", body)


@transfer.command
@rest_command
async def complete(
    rest: RestClient, call_id: CallId, session: Session = "", *, by: Requester = DEFAULT_REQUESTER
) -> Shown:
    """Complete a transfer: connect customer and target, and release the source.

    Example: switchroom transfer complete 3-pbx1-7f3a
    """
    body = {"completedByAgentId": by, "reason": "manual_complete"}
    return await _end(rest, call_id, session, "complete", body)


@transfer.command
@rest_command
async def cancel(
    rest: RestClient, call_id: CallId, session: Session = "", *, by: Requester = DEFAULT_REQUESTER
) -> Shown:
    """Cancel a transfer: release the target and reconnect source and customer.

    Example: switchroom transfer cancel 3-pbx1-7f3a
    """
    body = {"cancelledByAgentId": by, "reason": "source_cancel"}
    return await _end(rest, call_id, session, "cancel", body)


async def _end(
    rest: RestClient, call_id: str, name: str, action: str, body: dict[str, str]
) -> Shown:
    session = transfer_of(await get_call(rest, call_id), name)
    return await _post(rest, call_id, action, {**body, "transferSessionId": session})


async def _post(rest: RestClient, call_id: str, action: str, body: dict[str, Any]) -> Shown:
    path, of_call = ("voice", "transfer", action), {"callId": call_id, **body}
    view = await rest.request(TransferView, "POST", *path, body=of_call)
    return shown(view, call_view.transfer(view))
