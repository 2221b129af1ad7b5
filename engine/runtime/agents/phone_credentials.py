"""The credentials of agents' phones: digests only, by endpoint."""

import hashlib
from collections.abc import Mapping

import msgspec
from msgspec import Struct

from engine.store.store import Store

REALM = "asterisk"  # which the PBX names in its challenges
RESERVED = frozenset({"agent-template", "trunk", "peers"})
_TECHNOLOGY = "PJSIP/"


class PhoneCredentials(Struct, frozen=True, omit_defaults=True):
    """What the PBX knows of a phone's password; `is_removed`: its endpoint is to be deleted."""

    account: str
    agent_id: str
    name: str = ""
    md5: str = ""
    sha256: str = ""
    is_removed: bool = False


class EndpointTaken(Exception):
    """The endpoint is another agent's, or none of an agent."""


def digest_credentials(
    account: str, agent_id: str, endpoint: str, name: str, password: str
) -> PhoneCredentials:
    """Return the credentials of an endpoint; the password cannot be computed from them."""
    text = f"{phone_name(endpoint)}:{REALM}:{password}".encode()
    md5 = hashlib.md5(text, usedforsecurity=False).hexdigest()
    return PhoneCredentials(account, agent_id, name, md5, hashlib.sha256(text).hexdigest())


def phone_name(endpoint: str) -> str:
    """Return the name of a PJSIP endpoint; empty for another technology."""
    return endpoint.removeprefix(_TECHNOLOGY) if endpoint.startswith(_TECHNOLOGY) else ""


class CredentialStore(Struct, frozen=True):
    """The credentials of all accounts, which share the endpoints of the PBX nodes."""

    store: Store

    async def all(self) -> Mapping[str, PhoneCredentials]:
        """Read all credentials, by endpoint name."""
        bodies = await self.store.phones()
        return {
            name: msgspec.json.decode(body, type=PhoneCredentials) for name, body in bodies.items()
        }

    async def put(self, endpoint: str, credentials: PhoneCredentials) -> None:
        """Store the credentials of an endpoint; raises EndpointTaken."""
        name = phone_name(endpoint)
        if not name or name in RESERVED:
            raise EndpointTaken(f"{endpoint} can be no agent's phone")
        if await self.is_of_another(endpoint, credentials.account, credentials.agent_id):
            raise EndpointTaken(f"{endpoint} is another agent's phone")
        await self._write(name, credentials)

    async def is_of_another(self, endpoint: str, account: str, agent_id: str) -> bool:
        """Return whether an endpoint has the password of another agent."""
        known = (await self.all()).get(phone_name(endpoint))
        return (
            known is not None
            and not known.is_removed
            and (known.account, known.agent_id) != (account, agent_id)
        )

    async def remove(self, account: str, agent_id: str, but: str = "") -> None:
        """Remove an agent's credentials, except those of one endpoint."""
        for name, known in (await self.all()).items():
            is_own = (known.account, known.agent_id) == (account, agent_id)
            if is_own and not known.is_removed and name != phone_name(but):
                gone = PhoneCredentials(account, agent_id, is_removed=True)
                await self._write(name, gone)

    async def _write(self, name: str, credentials: PhoneCredentials) -> None:
        await self.store.put_phone(name, msgspec.json.encode(credentials))
