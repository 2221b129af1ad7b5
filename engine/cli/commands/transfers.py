"""`switchroom transfer`, `transfer-complete` and `transfer-cancel`."""

from typing import Annotated, Any

from cyclopts import Parameter

from engine.cli import call_view
from engine.cli.client import Client
from engine.cli.command import client_command
from engine.cli.options.channel_names import CallId, leg_of, transfer_of
from engine.cli.options.party import DEFAULT_REQUESTER, NO_PARTY, PartyOptions, Requester
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


@client_command
async def transfer(  # noqa: PLR0913 - one for each option
    client: Client,
    call_id: CallId,
    *,
    source: Source,
    customer: Customer,
    party: PartyOptions = NO_PARTY,
    blind: Annotated[bool, Parameter(help="The source leaves when the target rings.")] = False,
) -> None:
    """Transfer the customer of a call from the source (--from) to another party.

    Without --blind, run `transfer-complete` to finish, or let the source hang up.
    """
    target = party.target()
    call = await client.call(call_id)
    leg = leg_of(call, source)
    body: dict[str, Any] = {
        "transferMode": "blind" if blind else "attended",
        "sourceChannelId": leg.channel_id,
        "customerChannelId": leg_of(call, customer).channel_id,
        "target": target,
        **party.ringing(),
    }
    if agent := leg.agent_id or Party.parse(leg.party).agent_id:
        body["sourceAgentId"] = agent
    view = await client.control(TransferView, call_id, "transfers", body)
    call_view.write(call_view.transfer(view))


@client_command
async def complete(
    client: Client, call_id: CallId, session: Session = "", *, by: Requester = DEFAULT_REQUESTER
) -> None:
    """Complete a transfer: connect customer and target, and release the source."""
    body = {"completedByAgentId": by, "reason": "manual_complete"}
    await _end(client, call_id, session, "complete", body)


@client_command
async def cancel(
    client: Client, call_id: CallId, session: Session = "", *, by: Requester = DEFAULT_REQUESTER
) -> None:
    """Cancel a transfer: release the target and reconnect source and customer."""
    body = {"cancelledByAgentId": by, "reason": "source_cancel"}
    await _end(client, call_id, session, "cancel", body)


async def _end(client: Client, call_id: str, name: str, action: str, body: dict[str, str]) -> None:
    session = transfer_of(await client.call(call_id), name)
    view = await client.control(TransferView, call_id, f"transfers/{session}/{action}", body)
    call_view.write(call_view.transfer(view))
