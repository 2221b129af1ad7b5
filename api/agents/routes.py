"""`/srmain/voice/agents`: an account's agents, their presence and their phones."""

from typing import Annotated

from fastapi import Path, Query, Response

from api.agents.phone_login_service import PhoneLogin, PhoneLoginService
from api.agents.schemas import AgentPage, AgentQuery, AgentRow, AgentState, agent_row
from api.agents.service import AgentService
from api.auth.dependencies import AuthenticatedUser
from api.http.preconditions import IfMatch, tagged_response
from api.http.routes import Body, Routes
from api.http.services import service
from wire.agents import Agent, AgentPassword

routes = Routes("Agents")
BASE = "/srmain/voice/agents"
ONE = f"{BASE}/{{agentId}}"
AgentsOfAccount = Annotated[AgentService, service("agents")]
PhoneLogins = Annotated[PhoneLoginService, service("phone_logins")]
AgentId = Annotated[str, Path(alias="agentId", max_length=64)]
EXAMPLE = {"endpoint": "PJSIP/acme-ada", "name": "Ada", "callerId": "+4721930000"}


@routes.get(BASE, id="agents.list", scope="agents:read")
async def list_agents(
    user: AuthenticatedUser, query: Annotated[AgentQuery, Query()], agents: AgentsOfAccount
) -> AgentPage:
    """List the account's agents, ordered by id.

    While no engine responds, the presence of all is `unknown`.
    """
    return await agents.list(user.account_id, query)


@routes.get(
    ONE, id="agents.get", scope="agents:read", returns=AgentRow, errors=(404,), has_etag=True
)
async def get_agent(
    agent_id: AgentId, user: AuthenticatedUser, agents: AgentsOfAccount
) -> Response:
    """Return an agent of the directory."""
    found = await agents.get(user.account_id, agent_id)
    return tagged_response(agent_row(found), found.version)


@routes.get(f"{ONE}/presence", id="agents.presence", scope="agents:read", errors=(404, 503))
async def get_presence(
    agent_id: AgentId, user: AuthenticatedUser, agents: AgentsOfAccount
) -> AgentState:
    """Return whether an agent's phone is registered, where, and the agent's live call."""
    return await agents.state(user.account_id, agent_id)


@routes.put(
    ONE,
    id="agents.put",
    scope="agents:write",
    returns=AgentRow,
    errors=(409, 412, 503),
    has_etag=True,
    example=EXAMPLE,
)
async def put_agent(
    agent_id: AgentId,
    user: AuthenticatedUser,
    agents: AgentsOfAccount,
    body: Body[Agent],
    condition: IfMatch,
) -> Response:
    """Create or replace an agent.

    Its endpoint is `PJSIP/{account}-…`, where a name without further hyphens follows, or one that
    the operator has granted; others are 400 (`endpoint_not_granted`, `configured_endpoint`). One
    that is another account's or another agent's phone is 409 (`endpoint_taken`). Its `callerId` is
    a number of the account; others are 400 (`not_your_number`).
    """
    found = await agents.put(user.account_id, agent_id, body, condition)
    return tagged_response(agent_row(found), found.version)


@routes.put(
    f"{ONE}/password",
    id="agents.setPassword",
    scope="agents:write",
    errors=(404, 409, 503),
    status=204,
    example={"password": "correct-horse-battery"},
)
async def put_password(
    agent_id: AgentId,
    user: AuthenticatedUser,
    agents: AgentsOfAccount,
    body: Body[AgentPassword],
) -> Response:
    """Set the password of an agent's phone, which replaces the one before.

    Digests of it are stored, not the password itself. An endpoint that the configuration of a PBX
    node has keeps its password there: 400 (`configured_endpoint`).
    """
    await agents.put_password(user.account_id, agent_id, body)
    return Response(status_code=204)


@routes.post(
    f"{ONE}/phone-credentials",
    id="agents.createPhoneCredentials",
    scope="calls:own",
    status=201,
    errors=(404, 409, 503),
    idempotent=True,
    has_secret=True,
)
async def create_phone_credentials(
    agent_id: AgentId, user: AuthenticatedUser, logins: PhoneLogins
) -> PhoneLogin:
    """Create credentials of an agent's phone in a browser, which expire.

    An account's key needs the scope `agents:write`; an agent's token creates its own. Several are
    valid at the same time, one for each tab. A PBX node accepts them when this responds; if none
    does within three seconds, it is 503 (`phone_not_ready`). An agent whose `phone` is not
    `browser` is 409 (`not_a_browser`).
    """
    return await logins.create(user, agent_id)


@routes.delete(ONE, id="agents.delete", scope="agents:write", errors=(404, 412), status=204)
async def delete_agent(
    agent_id: AgentId, user: AuthenticatedUser, agents: AgentsOfAccount, condition: IfMatch
) -> Response:
    """Delete an agent, and the password of its phone."""
    await agents.delete(user.account_id, agent_id, condition)
    return Response(status_code=204)
