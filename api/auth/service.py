"""Authenticates callers by access token or API key.

A successful proof is cached for five minutes, the state of a key for two seconds: a revoked key
works for at most two seconds more.
"""

import hashlib
import re
from ipaddress import ip_address, ip_network

from msgspec import Struct
from msgspec.structs import replace

from api.auth.key_cache import KeyCache
from api.auth.key_store import (
    USE_INTERVAL_MS,
    ApiKey,
    KeyStore,
    parse_key_id,
    verify_secret,
)
from api.auth.principal import AGENT, OPERATIONS, Principal, resolve
from api.auth.throttle import NOT_AUTHENTICATED, Throttle
from api.auth.tokens import AccessTokens
from api.common.bounded_dict import BoundedDict
from api.common.clock import Clock
from api.common.errors import Unauthenticated
from wire.decoding.errors import BadInput
from wire.rpc import FieldError

PROOF_CACHE_MS = 300_000
# Another scheme, or a key with its secret: neither tokens nor keys have spaces or colons.
_OTHER_FORM = re.compile(r"[\s:]|^(basic|bearer)$", re.IGNORECASE)


class _Claim(Struct, frozen=True):
    """What a verified token or key says, and until when the verification is cached."""

    key_id: str
    agent_id: str | None
    until_ms: int


class Authenticator:
    def __init__(
        self, keys: KeyStore, tokens: AccessTokens, now_ms: Clock, *, accepts_keys: bool = True
    ) -> None:
        self._keys = keys
        self._tokens = tokens
        self._now_ms = now_ms
        self._accepts_keys = accepts_keys  # in the header, instead of a token
        self._throttle = Throttle(now_ms)
        self._cache = KeyCache(keys.get, self._throttle, now_ms)
        self._proofs: BoundedDict[bytes, _Claim] = BoundedDict()

    async def authenticate(self, header: str, address: str) -> Principal:
        """Return the caller; raises Unauthenticated."""
        presented = header.strip()
        if presented[:7].lower() == "bearer ":
            presented = presented[7:].strip()
        return await self._principal(await self._claim(presented, address), address)

    async def _principal(self, claim: _Claim, address: str) -> Principal:
        key = await self._cache.get(claim.key_id, address)
        if key is None or not self._is_valid(key, address):
            raise Unauthenticated(NOT_AUTHENTICATED)
        await self._record_use(key)
        return _principal(key, claim)

    async def authenticate_session(
        self, key_id: str, agent_id: str | None, address: str
    ) -> Principal:
        """Return the caller of a session that a key has started; raises Unauthenticated."""
        return await self._principal(_Claim(key_id, agent_id, 0), address)

    async def issue_token(
        self, account_id: str, api_key: str, api_secret: str, agent_id: str | None, address: str
    ) -> tuple[str, int]:
        """Return an access token and its lifetime in seconds.

        Raises Unauthenticated, or TooManyRequests after many failures.
        """
        key = await self.check_credentials(api_key, api_secret, agent_id, address, account_id)
        token = self._tokens.issue(key.id, key.account_id, key.agent_id or agent_id)
        return token, self._tokens.lifetime_s

    async def check_credentials(
        self,
        api_key: str,
        api_secret: str,
        agent_id: str | None,
        address: str,
        account_id: str | None = None,
    ) -> ApiKey:
        """Return the key of a pair, of any account without one.

        Raises Unauthenticated, or TooManyRequests after many failures, or BadInput if the key is
        another agent's.
        """
        key_id = parse_key_id(api_key)
        key = await self._cache.get(key_id, address) if key_id else None
        if (
            key is None
            or not self._is_valid(key, address)
            or account_id not in {None, key.account_id}
            or not verify_secret(api_key, key.key_hash)
            or not verify_secret(api_secret, key.secret_hash)
        ):
            raise self._throttle.refuse(address)
        if key.agent_id and agent_id not in {None, key.agent_id}:
            raise BadInput("agentId", f"this key is agent {key.agent_id}'s")
        return key

    async def _claim(self, presented: str, address: str) -> _Claim:
        name = hashlib.sha256(presented.encode(errors="surrogateescape")).digest()
        claim = self._proofs.get(name)
        if claim is None or claim.until_ms <= self._now_ms():
            claim = self._proofs.put(name, await self._prove(presented, address))
        return claim

    async def _prove(self, presented: str, address: str) -> _Claim:
        if claims := self._tokens.verify(presented):
            return _Claim(claims["key"], claims.get("agent"), claims["exp"] * 1_000)
        key_id = parse_key_id(presented) if self._accepts_keys else None
        key = await self._cache.get(key_id, address) if key_id else None
        if key is None or not verify_secret(presented, key.key_hash):
            self._throttle.record_failure(address)
            raise Unauthenticated(NOT_AUTHENTICATED, errors=self._errors_of_form(presented))
        return _Claim(key.id, None, self._now_ms() + PROOF_CACHE_MS)

    async def _record_use(self, key: ApiKey) -> None:
        now_ms = self._now_ms()
        if key.last_used_ms is None or now_ms - key.last_used_ms >= USE_INTERVAL_MS:
            self._cache.put(replace(key, last_used_ms=now_ms))
            await self._keys.record_use(key.id)

    def _errors_of_form(self, presented: str) -> tuple[FieldError, ...]:
        """Return what is wrong with a header that can be no token, and no key that is one."""
        is_key = parse_key_id(presented) is not None
        if presented and not _OTHER_FORM.search(presented) and (self._accepts_keys or not is_key):
            return ()
        allowed = "an access token or an apiKey" if self._accepts_keys else "an access token"
        message = f"expected {allowed}, alone or after Bearer; not Basic, and not key:secret"
        if is_key and not self._accepts_keys:
            message += ": key and secret get one by POST /auth/get-access-token/{accountId}"
        return (FieldError("Authorization", message, "unauthenticated"),)

    def _is_valid(self, key: ApiKey, address: str) -> bool:
        is_current = key.expires_ms is None or key.expires_ms > self._now_ms()
        return key.is_account_active and is_current and _is_allowed(address, key.networks)


def _principal(key: ApiKey, claim: _Claim) -> Principal:
    """Return the caller; a token that an account's key has issued for an agent is that agent's.

    No agent is an operator, whatever its key says.
    """
    scopes = resolve(key.scopes)
    if claim.agent_id is not None and key.agent_id is None:
        scopes &= resolve([AGENT])
    if key.agent_id is not None:
        scopes -= {OPERATIONS}
    return Principal(key.account_id, key.id, key.agent_id or claim.agent_id, scopes)


def _is_allowed(address: str, networks: tuple[str, ...]) -> bool:
    if not networks:
        return True
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    return any(parsed in ip_network(each) for each in networks)
