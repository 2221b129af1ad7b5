"""`switchroom agents` and `agent`: who can be called, and where their phones register."""

from typing import Annotated, Any

from cyclopts import App, Parameter
from rich.console import Console
from rich.table import Table

from engine.cli.client import open_client
from engine.cli.errors import run
from engine.cli.options.connection import (
    DEFAULT_CONNECTION,
    AccountFlag,
    ClientSettings,
    ConnectionOptions,
    engine_address,
    resolve_account,
)
from wire.agents import AgentView

agent = App(name="agent", help="Put agents into an account's directory, or take them out.")


@agent.command(name="list")
def agents(*, account: AccountFlag = "", where: ConnectionOptions = DEFAULT_CONNECTION) -> None:
    """List the agents of an account, with presence and the calls they are in."""
    run(_agents(account, where))


@agent.command(name="set")
def put(  # noqa: PLR0913 - one for each flag
    agent_id: str,
    endpoint: Annotated[
        str, Parameter(help="ConnectionOptions the phone registers, as PJSIP/1001.")
    ],
    *,
    name: str = "",
    caller_id: Annotated[str, Parameter(help="Shown to others when the agent calls.")] = "",
    account: AccountFlag = "",
    where: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """Say at which endpoint an agent is called."""
    body: dict[str, Any] = {"endpoint": endpoint, "name": name}
    if caller_id:
        body["callerId"] = caller_id
    run(_put(agent_id, body, account, where))


@agent.command(name="rm", alias="remove")
def remove(
    agent_id: str, *, account: AccountFlag = "", where: ConnectionOptions = DEFAULT_CONNECTION
) -> None:
    """Take an agent out of the directory."""
    run(_remove(agent_id, account, where))


async def _agents(account: str, where: ConnectionOptions) -> None:
    settings = ClientSettings()
    async with open_client(*engine_address(where, settings)) as client:
        found = await client.agents(resolve_account(account, settings))
    table = Table("agent", "name", "endpoint", "presence", "call", box=None)
    for each in found:
        table.add_row(each.agent_id, each.name, each.endpoint, _presence(each), each.call_id)
    # A name may look like markup.
    Console(highlight=False, markup=False).print(table if found else "no agents")


async def _put(agent_id: str, body: dict[str, Any], account: str, where: ConnectionOptions) -> None:
    settings = ClientSettings()
    async with open_client(*engine_address(where, settings)) as client:
        await client.put_agent(resolve_account(account, settings), agent_id, body)


async def _remove(agent_id: str, account: str, where: ConnectionOptions) -> None:
    settings = ClientSettings()
    async with open_client(*engine_address(where, settings)) as client:
        await client.delete_agent(resolve_account(account, settings), agent_id)


def _presence(view: AgentView) -> str:
    at = f" ({', '.join(view.nodes)})" if view.nodes else ""
    return f"{view.presence}{', busy' if view.busy else ''}{at}"
