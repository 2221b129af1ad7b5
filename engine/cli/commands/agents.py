"""`switchroom agents` and `agent`: the directory of agents and their endpoints."""

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

agent = App(name="agent", help="Manage the agents in an account's directory.")


@agent.command(name="list")
def agents(
    *, account: AccountFlag = "", connection: ConnectionOptions = DEFAULT_CONNECTION
) -> None:
    """List the agents of an account with presence and active call."""
    run(_agents(account, connection))


@agent.command(name="set")
def put(  # noqa: PLR0913 - one for each option
    agent_id: str,
    endpoint: Annotated[str, Parameter(help="Asterisk endpoint, such as PJSIP/1001.")],
    *,
    name: Annotated[str, Parameter(help="Display name.")] = "",
    caller_id: Annotated[str, Parameter(help="Caller id for calls of the agent.")] = "",
    account: AccountFlag = "",
    connection: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """Add or change an agent."""
    body: dict[str, Any] = {"endpoint": endpoint, "name": name}
    if caller_id:
        body["callerId"] = caller_id
    run(_put(agent_id, body, account, connection))


@agent.command(name="rm", alias="remove")
def remove(
    agent_id: str, *, account: AccountFlag = "", connection: ConnectionOptions = DEFAULT_CONNECTION
) -> None:
    """Remove an agent from the directory."""
    run(_remove(agent_id, account, connection))


async def _agents(account: str, connection: ConnectionOptions) -> None:
    settings = ClientSettings()
    async with open_client(*engine_address(connection, settings)) as client:
        found = await client.agents(resolve_account(account, settings))
    table = Table("agent", "name", "endpoint", "presence", "call", box=None)
    for each in found:
        table.add_row(each.agent_id, each.name, each.endpoint, _presence(each), each.call_id)
    # A name may contain markup.
    Console(highlight=False, markup=False).print(table if found else "no agents")


async def _put(
    agent_id: str, body: dict[str, Any], account: str, connection: ConnectionOptions
) -> None:
    settings = ClientSettings()
    async with open_client(*engine_address(connection, settings)) as client:
        await client.put_agent(resolve_account(account, settings), agent_id, body)


async def _remove(agent_id: str, account: str, connection: ConnectionOptions) -> None:
    settings = ClientSettings()
    async with open_client(*engine_address(connection, settings)) as client:
        await client.delete_agent(resolve_account(account, settings), agent_id)


def _presence(view: AgentView) -> str:
    at = f" ({', '.join(view.nodes)})" if view.nodes else ""
    return f"{view.presence}{', busy' if view.busy else ''}{at}"
