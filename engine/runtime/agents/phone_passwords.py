"""Passwords and logins of agents' phones: whether an endpoint can have one, and its digests."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from base.tasks import cancel_all
from engine.ari.generated.operations import asterisk, endpoints
from engine.runtime.agents.phone_credentials import (
    CredentialStore,
    Login,
    PhoneCredentials,
    digest_credentials,
    digests,
    is_login_of,
)
from engine.runtime.agents.phone_objects import PhoneObjects
from engine.runtime.base.interfaces import Pbx
from engine.runtime.pbx.snapshot import PbxUnavailable
from wire.agents import TECHNOLOGY, Agent, LoginDraft, phone_name
from wire.decoding.errors import BadInput
from wire.decoding.messages import decode_message

RESPONSE_TIMEOUT_S = 2.0
LOGIN_TIMEOUT_S = 3.0  # in which a node has a login
OTHERS_TIMEOUT_S = 0.5  # for which the other nodes are waited for
LOGIN_POLL_S = 0.03
_CLASS = "res_pjsip"
_FORBIDDEN = 403
_NOT_FOUND = 404


class PhonePasswords(Struct, frozen=True):
    """Endpoints that a node's pjsip.conf has keep the password that they have there."""

    credentials: CredentialStore
    nodes: Callable[[], Mapping[str, Pbx]]

    async def draft(
        self, account: str, agent_id: str, agent: Agent, password: str
    ) -> PhoneCredentials:
        """Return the credentials of an agent's phone; raises EndpointTaken and BadInput.

        They have none of the logins that there were before.
        """
        await self.credentials.check(agent.endpoint, account, agent_id)
        if await self._is_configured(agent.endpoint):
            text = (
                f"{agent.endpoint} is configured in pjsip.conf and keeps its password there;"
                f" expected an endpoint that no PBX node has in its configuration,"
                f" such as PJSIP/{account}-{agent_id}"
            )
            raise BadInput("endpoint", text, "configured_endpoint")
        made = digest_credentials(account, agent_id, agent.endpoint, agent.name, password)
        return replace(made, kind=agent.phone)

    async def draft_login(
        self, account: str, agent_id: str, draft: LoginDraft, known: bytes
    ) -> PhoneCredentials:
        """Return the credentials of a phone in a browser with one more login.

        Raises EndpointTaken and BadInput. Without a password of its own, the phone gets one that is
        known to no one: an endpoint without any accepts every call.
        """
        agent = draft.agent
        if agent.phone != "browser":
            raise BadInput("agent.phone", "expected browser")
        if not is_login_of(draft.username, agent.endpoint):
            raise BadInput("username", f"expected {phone_name(agent.endpoint)}~…")
        found = decode_message(known, PhoneCredentials | None)
        owner = (account, agent_id, agent.phone)
        if found is None or (found.account, found.agent_id, found.kind) != owner:
            found = await self.draft(account, agent_id, agent, secrets.token_urlsafe(32))
        else:
            await self.credentials.check(agent.endpoint, account, agent_id)
        both = digests(draft.username, draft.password)
        login = Login(draft.username, *both, draft.expires_ms, draft.key_id)
        return replace(found, name=agent.name).with_login(login)

    async def nodes_with(
        self, account: str, agent_id: str, endpoint: str, username: str
    ) -> tuple[str, ...]:
        """Return the nodes that accept a login of an agent; waits a moment until one does.

        A node that does not respond delays it no further.
        """
        known = partial(self._valid_logins, account, agent_id, endpoint)
        phone = phone_name(endpoint)
        waiting = {
            asyncio.ensure_future(_accept(PhoneObjects(name, pbx), phone, known, username)): name
            for name, pbx in self.nodes().items()
        }
        if not waiting:
            return ()
        try:
            found, others = await asyncio.wait(
                waiting, timeout=LOGIN_TIMEOUT_S, return_when=asyncio.FIRST_COMPLETED
            )
            if found and others:
                found |= (await asyncio.wait(others, timeout=OTHERS_TIMEOUT_S))[0]
            for each in found:
                each.result()
            return tuple(sorted(waiting[each] for each in found))
        finally:
            await cancel_all(waiting)

    async def _valid_logins(
        self, account: str, agent_id: str, endpoint: str
    ) -> PhoneCredentials | None:
        known = await self.credentials.read(endpoint, account, agent_id)
        now_ms = await self.credentials.store.time_ms()
        return None if known is None else known.valid_at(now_ms)

    async def check_unconfigured(self, endpoint: str) -> None:
        """Check that no node has an endpoint in its configuration; raises BadInput."""
        if await self._is_configured(endpoint):
            text = (
                f"{endpoint} is configured in pjsip.conf: only the operator can give it to an"
                f" account (switchroom account endpoint add)"
            )
            raise BadInput("endpoint", text, "configured_endpoint")

    async def _is_configured(self, endpoint: str) -> bool:
        """Return whether a node that responds has an endpoint in its configuration."""
        name = phone_name(endpoint)
        if await self.credentials.is_known(name):
            return False
        found = await asyncio.gather(*(_is_in_file(each, name) for each in self.nodes().values()))
        return any(found)


async def _accept(
    node: PhoneObjects,
    phone: str,
    read: Callable[[], Awaitable[PhoneCredentials | None]],
    username: str,
) -> None:
    """Return when a node has a login, and the others of the phone."""
    while True:
        known = await read()
        is_known = known is not None and username in {each.username for each in known.logins}
        if known is not None and is_known and await _has_logins(node, phone, known):
            return
        await asyncio.sleep(LOGIN_POLL_S)


async def _has_logins(node: PhoneObjects, phone: str, known: PhoneCredentials) -> bool:
    """Return whether a node has the logins of a phone; False if it is away."""
    try:
        return await node.has_logins(phone, known)
    except PbxUnavailable:
        return False


async def _is_in_file(pbx: Pbx, name: str) -> bool:
    try:
        async with asyncio.timeout(RESPONSE_TIMEOUT_S):
            if not (await pbx.ask(endpoints.get(TECHNOLOGY, name))).ok:
                return False
            shown = await pbx.ask(asterisk.get_object(_CLASS, "auth", name))
            if not shown.ok:  # engines give each endpoint an auth of its name
                return shown.status == _NOT_FOUND
            # Only the reply to a change says where it comes from; without fields nothing changes.
            reply = await pbx.ask(asterisk.update_object(_CLASS, "auth", name, fields=[]))
            return reply.status == _FORBIDDEN
    except TimeoutError:
        return False
