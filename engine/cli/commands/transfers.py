"""`switchroom transfer`, `transfer-complete` and `transfer-cancel`."""

from typing import Annotated, Any

from cyclopts import Parameter

from engine.cli import call_view
from engine.cli.client import open_client
from engine.cli.errors import run
from engine.cli.options.channel_names import ChannelName, leg_of, transfer_of
from engine.cli.options.connection import (
    DEFAULT_CONNECTION,
    ClientSettings,
    ConnectionOptions,
    engine_address,
)
from engine.cli.options.party import DEFAULT_REQUESTER, NO_PARTY, PartyOptions, Requester
from wire.control import TransferView
from wire.party import Party
from wire.views import CallView

Session = Annotated[str, Parameter(help="Transfer session id or its end; default: the latest.")]


def transfer(  # noqa: PLR0913 - one for each option
    call_id: str,
    *,
    source: Annotated[ChannelName, Parameter(name="--from")],
    customer: ChannelName,
    party: PartyOptions = NO_PARTY,
    blind: Annotated[bool, Parameter(help="Blind transfer: hang up the source at once.")] = False,
    connection: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """Transfer the customer of a call from the source (--from) to another party.

    Without --blind, run `transfer-complete` to finish, or let the source hang up.
    """
    run(_transfer(call_id, (source, customer), party, blind, connection))


def complete(
    call_id: str,
    session: Session = "",
    *,
    by: Requester = DEFAULT_REQUESTER,
    connection: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """Complete a transfer: connect customer and target, and release the source."""
    body = {"completedByAgentId": by, "reason": "manual_complete"}
    run(_end(call_id, session, "complete", body, connection))


def cancel(
    call_id: str,
    session: Session = "",
    *,
    by: Requester = DEFAULT_REQUESTER,
    connection: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """Cancel a transfer: release the target and reconnect source and customer."""
    body = {"cancelledByAgentId": by, "reason": "source_cancel"}
    run(_end(call_id, session, "cancel", body, connection))


async def _transfer(
    call_id: str,
    names: tuple[str, str],
    party: PartyOptions,
    blind: bool,
    connection: ConnectionOptions,
) -> None:
    target = party.target()
    async with open_client(*engine_address(connection, ClientSettings())) as client:
        call = await client.call(call_id)
        body = _body(call, names, blind) | {"target": target} | party.ringing()
        view = await client.control(TransferView, call_id, "transfers", body)
    call_view.write(call_view.transfer(view))


def _body(call: CallView, names: tuple[str, str], blind: bool) -> dict[str, Any]:
    source, customer = (leg_of(call, each) for each in names)
    agent = source.agent_id or Party.parse(source.party).agent_id
    return {
        "transferMode": "blind" if blind else "attended",
        "sourceChannelId": source.channel_id,
        "customerChannelId": customer.channel_id,
        **({"sourceAgentId": agent} if agent else {}),
    }


async def _end(
    call_id: str, names: str, action: str, body: dict[str, Any], connection: ConnectionOptions
) -> None:
    async with open_client(*engine_address(connection, ClientSettings())) as client:
        session = transfer_of(await client.call(call_id), names)
        path = f"transfers/{session}/{action}"
        call_view.write(call_view.transfer(await client.control(TransferView, call_id, path, body)))
