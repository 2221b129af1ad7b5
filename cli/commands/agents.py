"""`switchroom agent`: the directory of agents, their phones and their presence."""

import secrets
import sys
from typing import Annotated, Any

import msgspec
from cyclopts import App, Parameter

from cli.command import IfVersion, rest_command
from cli.errors import RequestRejected, Unreachable, UsageError
from cli.help import with_example
from cli.output import Column, Row, Shown, fields_shown, rows_shown, shown
from cli.rest_client import RestClient
from wire.agents import AgentPassword, PhoneKind

AgentId = Annotated[str, Parameter(help="Agent id.")]

MAX_WITH_PRESENCE = "100"  # agents of a page
PASSWORD_BYTES = 18  # 144 bits
NO_AGENTS = "no agents; `switchroom agent set AGENT-ID ENDPOINT` adds one"
_COLUMNS: tuple[Column, ...] = (
    ("agent", "agentId"),
    ("name", "name"),
    ("endpoint", "endpoint"),
    ("presence", lambda row: _presence(row["state"])),
    ("call", lambda row: row["state"].get("callId") or ""),
)

agent = App(
    name="agent", help=with_example("Manage the agents in an account's directory.", "agent list")
)


@agent.command(name="list")
@rest_command
async def agents(rest: RestClient) -> Shown:
    """List the agents of an account with presence and active call.

    Example: switchroom agent list
    """
    query = {"withPresence": "true", "limit": MAX_WITH_PRESENCE}
    rows = [each async for each in rest.rows("voice", "agents", query=query)]
    return rows_shown(rows, _COLUMNS, NO_AGENTS)


@agent.command(alias="get")
@rest_command
async def show(rest: RestClient, agent_id: AgentId) -> Shown:
    """Show an agent.

    Example: switchroom agent show 1001
    """
    return fields_shown(await rest.tagged("GET", "voice", "agents", agent_id))


@agent.command
@rest_command
async def presence(rest: RestClient, agent_id: AgentId) -> Shown:
    """Show whether an agent's phone is registered, where, and the agent's live call.

    Example: switchroom agent presence 1001
    """
    found = await rest.tagged("GET", "voice", "agents", agent_id, "presence")
    call = f", call {found['callId']}" if found.get("callId") else ""
    return shown(found, f"{agent_id}: {_presence(found)}{call}")


@agent.command(name="set")
@rest_command
async def put(  # noqa: PLR0913 - one for each option
    rest: RestClient,
    agent_id: AgentId,
    endpoint: Annotated[str, Parameter(help="Asterisk endpoint, such as PJSIP/acme-ada.")],
    *,
    name: Annotated[str, Parameter(help="Display name.")] = "",
    caller_id: Annotated[str, Parameter(help="Caller id for calls of the agent.")] = "",
    phone: Annotated[PhoneKind, Parameter(help="What the endpoint is made for.")] = "sip",
    new_password: Annotated[
        bool, Parameter(help="Give the phone a new password, shown once.", negative=())
    ] = False,
    password_stdin: Annotated[
        bool, Parameter(help="Read the phone's password from standard input.", negative=())
    ] = False,
    if_version: IfVersion = None,
) -> Shown:
    """Add or change an agent, and the password of its phone.

    A desk phone's transfer key is declined (603) unless the PBX nodes have PBX_AGENT_REFER=yes.

    Example: switchroom agent set ada PJSIP/acme-ada --name Ada --new-password
    """
    body: dict[str, Any] = {"endpoint": endpoint, "name": name}
    if phone != "sip":
        body["phone"] = phone
    if caller_id:
        body["callerId"] = caller_id
    password = _password(is_new=new_password, is_read=password_stdin)  # first: it may be refused
    stored = await rest.tagged("PUT", "voice", "agents", agent_id, body=body, version=if_version)
    if password is not None:
        await _set_password(rest, agent_id, password)
    if not new_password:
        return shown(stored)
    sys.stderr.write("switchroom: the password is shown only once\n")
    user = endpoint.rpartition("/")[2]
    value = {**stored, "user": user, "password": password}
    return shown(value, f"user     {user}", f"password {password}")


@agent.command(name="rm", alias="remove")
@rest_command
async def remove(rest: RestClient, agent_id: AgentId) -> Shown:
    """Remove an agent from the directory.

    Example: switchroom agent rm 1001
    """
    return shown(await rest.remove("agent", agent_id, "voice", "agents", agent_id))


async def _set_password(rest: RestClient, agent_id: str, password: str) -> None:
    sent = {"password": password}
    try:
        await rest.tagged("PUT", "voice", "agents", agent_id, "password", body=sent)
    except (RequestRejected, Unreachable):
        # The next lines say why: status 2 alone would mean that nothing was changed.
        sys.stderr.write(f"switchroom: agent {agent_id} is stored, but not its phone's password\n")
        raise


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


def _presence(row: Row) -> str:
    at = f" ({', '.join(row['nodes'])})" if row.get("nodes") else ""
    return f"{row['presence']}{', busy' if row.get('busy') else ''}{at}"
