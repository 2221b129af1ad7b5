"""The credentials of agents' phones: digests only, by endpoint.

A phone in a browser has no password of its own, but logins: each with a user name, and valid for a
while.
"""

import hashlib
from typing import Annotated

from msgspec import Struct
from msgspec.structs import replace

from base.limit import Limit
from engine.store.store import Store
from wire.agents import PhoneKind, phone_name
from wire.decoding.messages import decode_message

REALM = "asterisk"  # which the PBX names in its challenges
RESERVED = frozenset({"agent-template", "browser-template", "trunk", "peers"})
MAX_LOGINS: Annotated[
    int, Limit("phone", "the oldest ends", "Logins of a phone, also expired ones.")
] = 16
SEPARATOR = "~"  # between endpoint and the rest of a user name; no endpoint contains it


class Login(Struct, frozen=True, omit_defaults=True):
    """A user name with its digests, until it expires; and the API key that created it."""

    username: str
    md5: str
    sha256: str
    expires_ms: int
    key_id: str = ""


class PhoneCredentials(Struct, frozen=True, omit_defaults=True):
    """What the PBX knows of a phone's password.

    `withdrawals` counts how often the REST layer has removed logins before they expired.
    """

    account: str
    agent_id: str
    name: str = ""
    md5: str = ""
    sha256: str = ""
    kind: PhoneKind = "sip"
    logins: tuple[Login, ...] = ()
    withdrawals: int = 0

    def valid_at(self, now_ms: int) -> "PhoneCredentials":
        """Return the credentials with the logins that are valid."""
        return replace(self, logins=tuple(each for each in self.logins if each.expires_ms > now_ms))

    def with_login(self, login: Login) -> "PhoneCredentials":
        """Return the credentials with one more login; the one that expires first may go."""
        logins = sorted((*self.logins, login), key=lambda each: each.expires_ms)
        return replace(self, logins=tuple(logins[-MAX_LOGINS:]))


class EndpointTaken(Exception):
    """The endpoint is another agent's, or none of an agent."""


def digests(username: str, password: str) -> tuple[str, str]:
    """Return the digests of a user name and a password: MD5 and SHA-256."""
    text = f"{username}:{REALM}:{password}".encode()
    md5 = hashlib.md5(text, usedforsecurity=False).hexdigest()
    return md5, hashlib.sha256(text).hexdigest()


def digest_credentials(
    account: str, agent_id: str, endpoint: str, name: str, password: str
) -> PhoneCredentials:
    """Return the credentials of an endpoint; the password cannot be computed from them."""
    return PhoneCredentials(account, agent_id, name, *digests(phone_name(endpoint), password))


def is_login_of(username: str, endpoint: str) -> bool:
    """Return whether a user name can be a login of an endpoint, and of no other one."""
    return username.startswith(f"{phone_name(endpoint)}{SEPARATOR}")


class CredentialStore(Struct, frozen=True):
    """The credentials of all accounts, which share the endpoints of the PBX nodes."""

    store: Store

    async def check(self, endpoint: str, account: str, agent_id: str) -> None:
        """Check that an agent's endpoint can have a password; raises EndpointTaken."""
        name = phone_name(endpoint)
        if not name or name in RESERVED:
            raise EndpointTaken(f"{endpoint} can be no agent's phone")
        if await self.is_of_another(endpoint, account, agent_id):
            raise EndpointTaken(f"{endpoint} is another agent's phone")

    async def is_of_another(self, endpoint: str, account: str, agent_id: str) -> bool:
        """Return whether an endpoint has the password of another agent."""
        known = await self._find(endpoint)
        return known is not None and (known.account, known.agent_id) != (account, agent_id)

    async def read(self, endpoint: str, account: str, agent_id: str) -> PhoneCredentials | None:
        """Return an agent's credentials of an endpoint; None: there are none."""
        known = await self._find(endpoint)
        is_own = known is not None and (known.account, known.agent_id) == (account, agent_id)
        return known if is_own else None

    async def is_known(self, name: str) -> bool:
        """Return whether engines have made an endpoint, or have deleted it in the last week."""
        _, is_known = await self.store.phones.read(name)
        return is_known

    async def _find(self, endpoint: str) -> PhoneCredentials | None:
        body, _ = await self.store.phones.read(phone_name(endpoint))
        return None if body is None else decode_message(body, PhoneCredentials)
