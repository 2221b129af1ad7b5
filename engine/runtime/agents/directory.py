"""The directory of agents: the endpoint of an agent, and the agent of an endpoint."""

import re
from collections.abc import Callable

import msgspec
import structlog
from msgspec import Struct

from base.tasks import BackgroundTasks
from base.ttl_cache import DEFAULT_TTL_MS, TtlCache
from engine.runtime.agents.account_agents import AccountAgents, Caller
from engine.runtime.base.interfaces import AgentPhone, OnAgentFound
from engine.runtime.pbx.endpoint_templates import trunk_name
from engine.store.errors import StoreDown
from engine.store.store import Store
from wire.agents import Agent, account_of_endpoint, phone_name
from wire.decoding.messages import decode_message
from wire.decoding.patterns import NAME


class AgentTemplate(Struct, frozen=True):
    """Endpoints by `{agent_id}`: of one account, or of every account if it contains `{account}`.

    Other accounts need a document for each agent: they would share their phones otherwise.
    """

    text: str
    account: str = ""

    def endpoint(self, account: str, agent_id: str) -> str | None:
        """Return the endpoint of an agent; None: the account may not use the template."""
        if account != self.account and "{account}" not in self.text:
            return None
        return self.text.format(account=account, agent_id=agent_id)

    def agent_id(self, account: str, endpoint: str) -> str:
        """Return the account's agent at an endpoint; empty: none."""
        before, _, after = self.text.replace("{account}", account).partition("{agent_id}")
        agent_id = endpoint.removeprefix(before).removesuffix(after)
        is_name = re.search(NAME, agent_id) is not None
        return agent_id if is_name and self.endpoint(account, agent_id) == endpoint else ""


log = structlog.get_logger()
PEER_TRUNK = "PJSIP/peers"  # the endpoint through which each node calls the phones of the others
MAX_ACCOUNTS = 1_000


class Directory:
    """Finds endpoints by the accounts' documents, or else by the template, if they may use it.

    An endpoint of one account's document is no other account's agent.

    Results are cached for a moment: a busy agent causes one read a second, of what has changed.
    """

    def __init__(
        self,
        store: Store,
        now_ms: Callable[[], int],
        template: AgentTemplate,
        trunk_endpoints: tuple[str, ...],
        ttl_ms: int = DEFAULT_TTL_MS,
    ) -> None:
        self._store = store
        self._now_ms = now_ms
        self._template = template
        trunks = (f"{each.partition('/')[0]}/{trunk_name(each)}" for each in trunk_endpoints)
        self._trunks = {each.casefold() for each in (*trunks, PEER_TRUNK)}
        self._phones = TtlCache(self._read_phone, now_ms, ttl_ms)
        self._agents = TtlCache(self._read_agents, now_ms, ttl_ms, MAX_ACCOUNTS)
        self._owners = TtlCache(store.phones.owner, now_ms, ttl_ms)
        self._tasks = BackgroundTasks()

    def resolve(self, account: str, agent_id: str, done: OnAgentFound) -> None:
        """Pass an agent's phone to `done`, at once if it is cached; None: there is none.

        An agent without a document has the endpoint of the template. While the store is down, the
        last phone read applies, or else the template. The trunk is not an agent's endpoint.
        """
        if cached := self._phones.get_fresh((account, agent_id)):
            done(cached.value)
            return
        self._tasks.start(self._resolve(account, agent_id, done))

    def known_caller(self, account: str, endpoint: str) -> Caller | None:
        """Return the agent that calls from an endpoint; None: not cached, see `agent_of`."""
        if not self.is_phone(endpoint):
            return Caller()
        agents = self._agents.get_fresh(account)
        if agents is None:
            return None
        if caller := agents.value.caller(endpoint):
            return caller
        owner = self._owners.get_fresh(endpoint)
        return self._undocumented(account, agents.value, endpoint, owner.value) if owner else None

    async def agent_of(self, account: str, endpoint: str) -> Caller:
        """Return the agent of an account that calls from an endpoint."""
        if not self.is_phone(endpoint):
            return Caller()
        agents = await self._agents_of(account)
        if caller := agents.caller(endpoint):
            return caller
        return self._undocumented(account, agents, endpoint, await self._owner(endpoint))

    async def update(self, account: str) -> AccountAgents:
        """Read now what has changed of an account's agents, and return them; raises StoreDown."""
        agents = await self._agents.get(account)
        await agents.update()
        return agents

    async def has_endpoint(self, account: str, endpoint: str) -> bool:
        """Return whether an agent's document has this endpoint now; raises StoreDown."""
        return (await self.update(account)).caller(endpoint) is not None

    async def is_stored(self, account: str, agent_id: str) -> bool:
        """Return whether an agent has a document now; raises StoreDown."""
        return await self._store.agent(account, agent_id) is not None

    def default(self, account: str, agent_id: str) -> str | None:
        """Return the endpoint of an agent without a document, if the account has a template."""
        return self._template.endpoint(account, agent_id)

    def has_document(self, account: str, agent_id: str) -> bool:
        """Return whether an agent had a document when the account's agents were last read."""
        agents = self._agents.get_stale(account)
        return agents is not None and agent_id in agents.value

    def is_phone(self, endpoint: str) -> bool:
        """Return whether an endpoint is that of a phone, which belongs to an account."""
        return bool(phone_name(endpoint)) and not self.is_trunk(endpoint)

    def is_trunk(self, endpoint: str) -> bool:
        """Return whether an endpoint is a trunk's, also between nodes, and so no agent's."""
        return endpoint.casefold() in self._trunks

    async def close(self) -> None:
        """Cancel pending reads: recovery repeats them."""
        await self._tasks.close()

    async def _resolve(self, account: str, agent_id: str, done: OnAgentFound) -> None:
        key = (account, agent_id)
        try:
            done(await self._phones.get(key))
        except (StoreDown, msgspec.DecodeError) as error:
            log.warning("agent not read", account=account, agent_id=agent_id, error=str(error))
            last = self._phones.get_stale(key)
            done(last.value if last else self._phone(None, self.default(account, agent_id)))

    async def _read_phone(self, key: tuple[str, str]) -> AgentPhone | None:
        account, agent_id = key
        body = await self._store.agent(account, agent_id)
        agent = decode_message(body, Agent) if body else None
        default = self.default(account, agent_id)
        if agent is None and default is not None:
            owner = await self._store.phones.owner(default)
            default = default if owner in {None, account} else None
        return self._phone(agent, default)

    def _phone(self, agent: Agent | None, default: str | None) -> AgentPhone | None:
        """Return the phone of a document, or else the template's; None: there is none."""
        endpoint = agent.endpoint if agent else default
        if endpoint is None or self.is_trunk(endpoint):
            return None
        return AgentPhone(endpoint, agent.name, agent.phone) if agent else AgentPhone(endpoint)

    async def _agents_of(self, account: str) -> AccountAgents:
        """Return an account's agents; while the store is down, as they were read last."""
        try:
            return await self._agents.get(account)
        except StoreDown as error:
            log.warning("agents not read", account=account, error=str(error))
            last = self._agents.get_stale(account)
            return last.value if last else AccountAgents(self._store, account, self._now_ms)

    async def _read_agents(self, account: str) -> AccountAgents:
        last = self._agents.get_stale(account)
        agents = last.value if last else AccountAgents(self._store, account, self._now_ms)
        await agents.update()
        return agents

    async def _owner(self, endpoint: str) -> str | None:
        """Return the account that an endpoint belongs to, or belonged to when it was last read."""
        try:
            return await self._owners.get(endpoint)
        except StoreDown:
            last = self._owners.get_stale(endpoint)
            return last.value if last else None

    def _undocumented(
        self, account: str, agents: AccountAgents, endpoint: str, owner: str | None
    ) -> Caller:
        """Return who calls an account from a phone that no document of its agents names."""
        agent_id = self._template.agent_id(account, endpoint)
        named = account_of_endpoint(endpoint)
        if owner is None and (named == account or (agent_id and not _is_named(agent_id, named))):
            owner = account
        if owner != account:
            return Caller(is_foreign=True, owner=owner or named)
        return Caller("" if agent_id in agents else agent_id)


def _is_named(agent_id: str, account: str) -> bool:
    """Return whether the agent's id of a template is another account's name and its phone's."""
    return bool(account) and "-" in agent_id
