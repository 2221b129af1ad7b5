"""Passwords of agents' phones: whether an endpoint can have one, and its digests."""

import asyncio
from collections.abc import Callable, Iterable

from msgspec import Struct

from engine.ari.generated.operations import asterisk, endpoints
from engine.runtime.agents.phone_credentials import (
    CredentialStore,
    PhoneCredentials,
    digest_credentials,
)
from engine.runtime.base.interfaces import Pbx
from wire.agents import TECHNOLOGY, Agent, phone_name
from wire.decoding.errors import BadInput

RESPONSE_TIMEOUT_S = 2.0
_CLASS = "res_pjsip"
_FORBIDDEN = 403
_NOT_FOUND = 404


class PhonePasswords(Struct, frozen=True):
    """Endpoints that a node's pjsip.conf has keep the password that they have there."""

    credentials: CredentialStore
    nodes: Callable[[], Iterable[Pbx]]

    async def draft(
        self, account: str, agent_id: str, agent: Agent, password: str
    ) -> PhoneCredentials:
        """Return the credentials of an agent's phone; raises EndpointTaken and BadInput."""
        await self.credentials.check(agent.endpoint, account, agent_id)
        name = phone_name(agent.endpoint)
        if not await self.credentials.is_known(name) and await self._is_configured(name):
            text = (
                f"{agent.endpoint} is configured in pjsip.conf and keeps its password there;"
                f" expected an endpoint that no PBX node has in its configuration,"
                f" such as PJSIP/{account}-{agent_id}"
            )
            raise BadInput("endpoint", text, "configured_endpoint")
        return digest_credentials(account, agent_id, agent.endpoint, agent.name, password)

    async def _is_configured(self, name: str) -> bool:
        """Return whether a node that responds has an endpoint in its configuration."""
        found = await asyncio.gather(*(_is_in_file(each, name) for each in self.nodes()))
        return any(found)


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
