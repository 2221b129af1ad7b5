"""`switchroom agents` and `agent`: the directory of agents and their endpoints."""

from typing import Annotated, Any

from cyclopts import App, Parameter
from rich.console import Console
from rich.table import Table

from engine.cli.client import Client
from engine.cli.command import account_command
from wire.agents import Agents, AgentView

AgentId = Annotated[str, Parameter(help="Agent id.")]

NO_AGENTS = "no agents; `switchroom agent set AGENT-ID ENDPOINT` adds one"

agent = App(name="agent", help="Manage the agents in an account's directory.")


@agent.command(name="list")
@account_command
async def agents(client: Client, account: str) -> None:
    """List the agents of an account with presence and active call."""
    found = await client.request(Agents, "GET", "agents", query={"account": account})
    table = Table("agent", "name", "endpoint", "presence", "call", box=None)
    for each in found.agents:
        table.add_row(each.agent_id, each.name, each.endpoint, _presence(each), each.call_id)
    # A name may contain markup.
    Console(highlight=False, markup=False).print(table if found.agents else NO_AGENTS)


@agent.command(name="set")
@account_command
async def put(  # noqa: PLR0913 - one for each option
    client: Client,
    account: str,
    agent_id: AgentId,
    endpoint: Annotated[str, Parameter(help="Asterisk endpoint, such as PJSIP/1001.")],
    *,
    name: Annotated[str, Parameter(help="Display name.")] = "",
    caller_id: Annotated[str, Parameter(help="Caller id for calls of the agent.")] = "",
) -> None:
    """Add or change an agent."""
    body: dict[str, Any] = {"endpoint": endpoint, "name": name}
    if caller_id:
        body["callerId"] = caller_id
    await client.request(AgentView, "PUT", "agents", account, agent_id, body=body)


@agent.command(name="rm", alias="remove")
@account_command
async def remove(client: Client, account: str, agent_id: AgentId) -> None:
    """Remove an agent from the directory."""
    await client.remove("agent", agent_id, "agents", account, agent_id)


def _presence(view: AgentView) -> str:
    at = f" ({', '.join(view.nodes)})" if view.nodes else ""
    return f"{view.presence}{', busy' if view.busy else ''}{at}"
