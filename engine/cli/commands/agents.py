"""`switchroom agents` and `agent`: the directory of agents and their endpoints."""

import secrets
import sys
from typing import Annotated, Any

from cyclopts import App, Parameter
from rich.console import Console
from rich.table import Table

from engine.cli.client import Client
from engine.cli.command import account_command
from wire.agents import Agents, AgentView

AgentId = Annotated[str, Parameter(help="Agent id.")]

PASSWORD_BYTES = 18  # 144 bits
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
    new_password: Annotated[
        bool, Parameter(help="Give the phone a new password, shown once.", negative=())
    ] = False,
    password_stdin: Annotated[
        bool, Parameter(help="Read the phone's password from standard input.", negative=())
    ] = False,
) -> None:
    """Add or change an agent, and the password of its phone."""
    body: dict[str, Any] = {"endpoint": endpoint, "name": name}
    if caller_id:
        body["callerId"] = caller_id
    await client.request(AgentView, "PUT", "agents", account, agent_id, body=body)
    if password_stdin:
        await _put_password(client, account, agent_id, sys.stdin.readline().rstrip("\r\n"))
    elif new_password:
        password = secrets.token_urlsafe(PASSWORD_BYTES)
        await _put_password(client, account, agent_id, password)
        sys.stdout.write(f"{password}\n")


@agent.command(name="rm", alias="remove")
@account_command
async def remove(client: Client, account: str, agent_id: AgentId) -> None:
    """Remove an agent from the directory."""
    await client.remove("agent", agent_id, "agents", account, agent_id)


async def _put_password(client: Client, account: str, agent_id: str, password: str) -> None:
    body = {"password": password}
    path = ("agents", account, agent_id, "password")
    await client.request(dict[str, Any], "PUT", *path, body=body)


def _presence(view: AgentView) -> str:
    at = f" ({', '.join(view.nodes)})" if view.nodes else ""
    return f"{view.presence}{', busy' if view.busy else ''}{at}"
