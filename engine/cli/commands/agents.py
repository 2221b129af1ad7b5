"""`switchroom agents` and `agent`: the directory of agents and their endpoints."""

import secrets
import sys
from typing import Annotated, Any

import msgspec
from cyclopts import App, Parameter
from rich.console import Console
from rich.table import Table

from engine.cli.client import Client
from engine.cli.command import account_command
from engine.cli.errors import UsageError
from wire.agents import AgentPassword, Agents, AgentView

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
    password = _password(is_new=new_password, is_read=password_stdin)  # first: it may be refused
    await client.request(AgentView, "PUT", "agents", account, agent_id, body=body)
    if password is not None:
        await _put_password(client, account, agent_id, password)
    if new_password:
        sys.stdout.write(f"user     {endpoint.rpartition('/')[2]}\npassword {password}\n")
        sys.stderr.write("switchroom: the password is shown only once\n")


@agent.command(name="rm", alias="remove")
@account_command
async def remove(client: Client, account: str, agent_id: AgentId) -> None:
    """Remove an agent from the directory."""
    await client.remove("agent", agent_id, "agents", account, agent_id)


def _password(*, is_new: bool, is_read: bool) -> str | None:
    """Return the password to set, if any; raises UsageError if it is no good one."""
    if is_read:
        text = sys.stdin.readline().rstrip("\r\n")
        try:
            return msgspec.convert({"password": text}, AgentPassword).password
        except msgspec.ValidationError:
            text = "the password: 16 to 128 visible characters without spaces are expected"
            raise UsageError(text) from None
    return secrets.token_urlsafe(PASSWORD_BYTES) if is_new else None


async def _put_password(client: Client, account: str, agent_id: str, password: str) -> None:
    body = {"password": password}
    path = ("agents", account, agent_id, "password")
    await client.request(dict[str, Any], "PUT", *path, body=body)


def _presence(view: AgentView) -> str:
    at = f" ({', '.join(view.nodes)})" if view.nodes else ""
    return f"{view.presence}{', busy' if view.busy else ''}{at}"
