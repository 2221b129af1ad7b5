"""An account's directory of agents, with what engines know of their phones and calls."""

import re
from collections.abc import Collection

import msgspec
import structlog
from msgspec import Struct

from api.accounts.store import AccountStore, EndpointStore
from api.agents.schemas import (
    MAX_WITH_PRESENCE,
    AgentPage,
    AgentQuery,
    AgentState,
    agent_row,
    agent_state,
    decode_agent,
)
from api.common.errors import Conflict, PreconditionFailed, ServiceUnavailable
from api.documents.agent_store import AgentStore
from api.documents.document import Document, Kind
from api.documents.editor import MAX_ATTEMPTS, DocumentEditor
from api.engine_client import EngineClient, id_in_path
from api.http.paging import Page
from api.http.preconditions import Precondition
from wire.agents import (
    Agent,
    AgentPassword,
    Agents,
    AgentView,
    DraftedPhone,
    PhoneDraft,
    account_of_endpoint,
)
from wire.decoding.errors import BadInput
from wire.decoding.patterns import NAME, PATTERNS
from wire.phone_numbers.international_form import own_number

log = structlog.get_logger()
KIND: Kind = "agent"
# Of one that engines do not know yet, and of all while no engine responds.
_UNKNOWN = AgentState("unknown", busy=False, call_id=None, nodes=())


class AgentService(Struct, frozen=True):
    documents: DocumentEditor
    accounts: AccountStore
    endpoints: EndpointStore
    agents: AgentStore
    engine: EngineClient

    async def list(self, account_id: str, query: AgentQuery) -> AgentPage:
        """Return a page of agents; raises BadInput for many with their presence."""
        if query.with_presence and query.limit > MAX_WITH_PRESENCE:
            raise BadInput("limit", f"at most {MAX_WITH_PRESENCE} together with withPresence")
        page = Page(query.limit, query.offset)
        found, total = await self.documents.page(account_id, KIND, page)
        if not query.with_presence:
            rows = tuple(map(agent_row, found))
        else:
            states = await self._states(account_id, [each.id for each in found])
            rows = tuple(agent_row(each, states.get(each.id, _UNKNOWN)) for each in found)
        return AgentPage(rows, total, page.limit, page.offset)

    async def get(self, account_id: str, agent_id: str) -> Document:
        """Return an agent; raises NotFound."""
        return await self.documents.get(account_id, KIND, agent_id)

    async def state(self, account_id: str, agent_id: str) -> AgentState:
        """Return presence and call of an agent; raises NotFound."""
        await self.documents.get(account_id, KIND, agent_id)
        found = await self.engine.request(AgentView, "GET", _path(account_id, agent_id))
        return agent_state(found)

    async def put(
        self, account_id: str, agent_id: str, agent: Agent, condition: Precondition
    ) -> Document:
        """Create or replace an agent; raises Conflict if its endpoint is another's."""
        if re.search(NAME, agent_id) is None:
            raise BadInput("agentId", f"expected {PATTERNS[NAME]}")

        await self._check_caller_id(account_id, agent.caller_id)

        async def checked(_before: Document | None) -> bytes:
            is_granted = await self._is_granted(account_id, agent.endpoint)
            # Before engines reserve it: they may have lost that it is another account's.
            await self.agents.check_endpoint(account_id, agent.endpoint)
            path = f"{_path(account_id, agent_id)}/check"
            query = {"granted": "true"} if is_granted else None
            await self.engine.request_raw("POST", path, agent, query)
            return msgspec.json.encode(agent)

        return await self.documents.change(account_id, KIND, agent_id, checked, condition)

    async def _check_caller_id(self, account_id: str, caller_id: str | None) -> None:
        """Check that a caller id is a number of the account; raises BadInput."""
        if caller_id is None:
            return
        numbers = await self.accounts.numbers(account_id)
        region = await self.accounts.region(account_id)
        if not own_number(caller_id, numbers, region or ""):
            text = f"{caller_id} is not a caller id of this account"
            raise BadInput("callerId", text, "not_your_number")

    async def _is_granted(self, account_id: str, endpoint: str) -> bool:
        """Return whether an operator has granted an endpoint to an account.

        Raises Conflict if it is granted to another one, and BadInput if it is neither granted nor
        named after the account.
        """
        owner = await self.endpoints.account_of(endpoint)
        if owner is None and account_of_endpoint(endpoint) == account_id:
            return False
        if owner is None:
            text = (
                f"expected PJSIP/{account_id}-NAME, NAME of letters, digits and _ with a letter,"
                " or an endpoint that your operator has granted"
            )
            raise BadInput("endpoint", text, "endpoint_not_granted")
        if owner != account_id:
            raise Conflict(f"{endpoint} belongs to another account", "endpoint_taken")
        return True

    async def put_password(self, account_id: str, agent_id: str, given: AgentPassword) -> None:
        """Set the password of an agent's phone; raises NotFound and Conflict."""
        path, attempts = f"{_path(account_id, agent_id)}/password/draft", MAX_ATTEMPTS
        while True:
            attempts -= 1
            found = await self.documents.get(account_id, KIND, agent_id)
            draft = PhoneDraft(password=given.password, agent=decode_agent(found))
            phone = await self.engine.request(DraftedPhone, "POST", path, draft)
            try:
                await self.agents.put_phone(found, phone.id, bytes(phone.document))
            except PreconditionFailed:  # the agent has been changed meanwhile
                if not attempts:
                    raise
            else:
                await self.documents.push(account_id)
                return

    async def delete(self, account_id: str, agent_id: str, condition: Precondition) -> None:
        """Delete an agent with the password of its phone; raises NotFound."""
        await self.documents.delete(account_id, KIND, agent_id, condition.version)

    async def _states(self, account_id: str, agent_ids: Collection[str]) -> dict[str, AgentState]:
        """Return the states of agents; none while no engine knows them."""
        query = {"account": account_id, "agents": ",".join(agent_ids)}
        try:
            found = await self.engine.request(Agents, "GET", "/agents", query=query)
        except ServiceUnavailable as error:
            log.info("presence not read", account=account_id, reason=error.detail)
            return {}
        return {each.agent_id: agent_state(each) for each in found.agents}


def _path(account_id: str, agent_id: str) -> str:
    return f"/agents/{id_in_path(account_id)}/{id_in_path(agent_id)}"
