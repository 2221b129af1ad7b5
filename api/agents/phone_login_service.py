"""Logins for a while of agents' phones in browsers."""

import asyncio
import secrets
from urllib.parse import quote, urlsplit
from weakref import WeakValueDictionary

import msgspec
from msgspec import Struct, field

from api.agents.ice_servers import IceServer, ice_servers
from api.agents.phone_tickets import PhoneTickets
from api.agents.schemas import decode_agent
from api.auth.key_store import KeyStore
from api.auth.principal import Principal
from api.auth.throttle import NOT_AUTHENTICATED
from api.common.clock import Clock
from api.common.errors import (
    ApiError,
    Conflict,
    Forbidden,
    PreconditionFailed,
    ServiceUnavailable,
    Unauthenticated,
)
from api.common.timestamps import format_ms
from api.config import PhoneSettings
from api.documents.agent_store import AgentStore
from api.documents.document import Document
from api.documents.editor import MAX_ATTEMPTS, DocumentEditor
from api.engine_client import EngineClient, id_in_path
from api.http.phone_websockets import PATH
from wire.agents import DraftedPhone, LoginDraft, LoginNodes, phone_name

USERNAME_BYTES, PASSWORD_BYTES = 9, 24
_NOTHING = msgspec.Raw(b"null")


class PhoneLogin(Struct, frozen=True, rename="camel"):
    """What a phone in a browser registers with, at one of the addresses, until it expires."""

    agent_id: str
    uri: str
    username: str
    password: str
    urls: tuple[str, ...]
    ice_servers: tuple[IceServer, ...]
    expiry_time: str


class PhoneLoginService(Struct, frozen=True):
    """Logins of one phone are stored one after the other: all are in one document."""

    documents: DocumentEditor
    agents: AgentStore
    keys: KeyStore
    engine: EngineClient
    settings: PhoneSettings
    tickets: PhoneTickets
    now_ms: Clock
    turns: WeakValueDictionary[tuple[str, str], asyncio.Lock] = field(
        default_factory=WeakValueDictionary
    )

    async def create(self, user: Principal, agent_id: str) -> PhoneLogin:
        """Create a login of an agent's phone, and wait until a PBX node accepts it.

        Raises Forbidden for an agent's token and another agent.
        """
        own = user.only_agent("agents:write")
        if own not in {None, agent_id}:
            raise Forbidden(f"agentId: this token acts as agent {own}", "agent")
        settings = self.settings
        agent = await self.documents.get(user.account_id, "agent", agent_id)
        if settings.api_phone_url is None or not settings.api_phone_nodes:
            text = "this server has no nodes for phones in browsers (SWITCHROOM_API_PHONE_NODES)"
            raise ServiceUnavailable(text, "no_phone_urls")
        expires_ms = self.now_ms() + settings.api_phone_s * 1_000
        turn = self.turns.setdefault((user.account_id, agent_id), asyncio.Lock())
        async with turn:
            agent, username, password = await self._add_login(agent, expires_ms, user.key_id)
        expires_ms = await self._expiry(user, expires_ms)
        name = phone_name(decode_agent(agent).endpoint)
        try:
            await self._wait_for_node(agent, username)
        except ApiError:
            # It is given to no phone; with each try it would take the place of one that is in use.
            await self.agents.remove_login(user.account_id, name, username)
            raise
        secret = settings.api_phone_turn_secret
        url = settings.api_phone_url
        ticket = quote(self.tickets.issue(user.account_id, user.key_id, expires_ms), safe="")
        turn_secret = secret.get_secret_value() if secret else ""
        return PhoneLogin(
            agent_id,
            f"sip:{name}@{urlsplit(url).hostname}",
            username,
            password,
            tuple(
                f"{url}{PATH}{node}?ticket={ticket}"
                for node in range(len(settings.api_phone_nodes))
            ),
            ice_servers(settings.api_phone_ice_urls, turn_secret, name, expires_ms),
            format_ms(expires_ms),
        )

    async def _expiry(self, user: Principal, expires_ms: int) -> int:
        """Return when a login that is stored ends: with its key, if that ends before.

        The key is read after the login was stored: what ends it later finds the login. Raises
        Unauthenticated if it has ended by now, which the caller's proof may not know yet.
        """
        key = await self.keys.get(user.key_id)
        if key is None or key.has_ended(self.now_ms()):
            if await self.agents.withdraw_logins(user.account_id, {user.key_id}):
                await self.documents.push(user.account_id)
            raise Unauthenticated(NOT_AUTHENTICATED)
        return expires_ms if key.expires_ms is None else min(key.expires_ms, expires_ms)

    async def _add_login(
        self, agent: Document, expires_ms: int, key_id: str
    ) -> tuple[Document, str, str]:
        """Store a login, and return its user name and password."""
        account_id, attempts = agent.account_id, MAX_ATTEMPTS
        password = secrets.token_urlsafe(PASSWORD_BYTES)
        while True:
            attempts -= 1
            document = decode_agent(agent)
            if document.phone != "browser":
                raise Conflict(f"the phone of agent {agent.id} is no browser", "not_a_browser")
            name = phone_name(document.endpoint)
            username = f"{name}~{secrets.token_urlsafe(USERNAME_BYTES)}"
            known = (await self.documents.store.read(account_id, "phone", [name])).get(name)
            draft = LoginDraft(
                agent=document,
                username=username,
                password=password,
                expires_ms=expires_ms,
                known=msgspec.Raw(known.body) if known else _NOTHING,
                key_id=key_id,
            )
            path = f"{_path(agent)}/draft"
            phone = await self.engine.request(DraftedPhone, "POST", path, draft)
            version = known.version if known else 0
            body = bytes(phone.document)
            try:
                await self.agents.put_phone(agent, phone.id, body, expected=version)
            except PreconditionFailed:  # agent or phone have been changed meanwhile
                if not attempts:
                    raise
                agent = await self.documents.get(account_id, "agent", agent.id)
            else:
                await self.documents.push(account_id)
                return agent, username, password

    async def _wait_for_node(self, agent: Document, username: str) -> None:
        """Wait until a node accepts a login; raises ServiceUnavailable if none does in time."""
        query = {"username": username}
        found = await self.engine.request(LoginNodes, "GET", _path(agent), query=query)
        if not found.nodes:
            text = "no PBX node has got the credentials yet"
            raise ServiceUnavailable(text, "phone_not_ready", retry_after_s=1)


def _path(agent: Document) -> str:
    return f"/agents/{id_in_path(agent.account_id)}/{id_in_path(agent.id)}/phone-credentials"
