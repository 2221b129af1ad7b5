"""`switchroom transfer`, `transfer-complete`, `transfer-cancel`: a party handed to another."""

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
from wire.views import CallView

Session = Annotated[str, Parameter(help="End of the session's id; default: the latest.")]


def transfer(  # noqa: PLR0913 - one for each flag
    call_id: str,
    *,
    source: Annotated[ChannelName, Parameter(name="--from")],
    customer: ChannelName,
    whom: PartyOptions = NO_PARTY,
    blind: Annotated[bool, Parameter(help="Hang the source up at once.")] = False,
    where: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """Hand a party of a conversation, the customer, from the other (--from) to somebody else.

    Unless --blind, both wait until `transfer-complete`, or until the source hangs up.
    """
    run(_transfer(call_id, (source, customer), whom, blind, where))


def complete(
    call_id: str,
    session: Session = "",
    *,
    by: Requester = DEFAULT_REQUESTER,
    where: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """Leave the source out: customer and target talk on."""
    asked = {"completedByAgentId": by, "reason": "manual_complete"}
    run(_end(call_id, session, "complete", asked, where))


def cancel(
    call_id: str,
    session: Session = "",
    *,
    by: Requester = DEFAULT_REQUESTER,
    where: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """Let the target go: source and customer talk on."""
    asked = {"cancelledByAgentId": by, "reason": "source_cancel"}
    run(_end(call_id, session, "cancel", asked, where))


async def _transfer(
    call_id: str, named: tuple[str, str], whom: PartyOptions, blind: bool, where: ConnectionOptions
) -> None:
    target = whom.target()
    async with open_client(*engine_address(where, ClientSettings())) as client:
        call = await client.call(call_id)
        body = _body(call, named, blind) | {"target": target} | whom.ringing()
        view = await client.control(TransferView, call_id, "transfers", body)
    call_view.write(call_view.transfer(view))


def _body(call: CallView, named: tuple[str, str], blind: bool) -> dict[str, Any]:
    source, customer = (leg_of(call, each) for each in named)
    agent = source.agent_id or source.party.partition("agent:")[2]
    return {
        "transferMode": "blind" if blind else "attended",
        "sourceChannelId": source.channel_id,
        "customerChannelId": customer.channel_id,
        **({"sourceAgentId": agent} if agent else {}),
    }


async def _end(
    call_id: str, named: str, deed: str, asked: dict[str, Any], where: ConnectionOptions
) -> None:
    async with open_client(*engine_address(where, ClientSettings())) as client:
        session = transfer_of(await client.call(call_id), named)
        path = f"transfers/{session}/{deed}"
        call_view.write(
            call_view.transfer(await client.control(TransferView, call_id, path, asked))
        )
