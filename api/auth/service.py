"""Authenticates callers by access token or API key.

A successful hash comparison is cached for five minutes, the state of a key for two seconds: a
revoked key works for at most two seconds more.
"""

import asyncio
import hashlib

from msgspec import Struct

from api.auth.hashing import verify_secret
from api.auth.store import ApiKey, KeyStore, parse_key_id
from api.auth.throttle import NOT_AUTHENTICATED, Throttle
from api.auth.tokens import AccessTokens
from api.common.bounded_dict import BoundedDict
from api.common.clock import Clock
from api.common.errors import Unauthenticated
from wire.decoding.errors import BadInput

PROOF_CACHE_MS = 300_000
KEY_CACHE_MS = 2_000
MAX_CONCURRENT_HASHES = 2  # each keeps one processor busy


class Principal(Struct, frozen=True):
    """The authenticated caller: an account, and one of its agents if the key or token has one."""

    account_id: str
    key_id: str
    agent_id: str | None = None


class _Claim(Struct, frozen=True):
    """What a verified token or key says, and until when the verification is cached."""

    key_id: str
    agent_id: str | None
    until_ms: int


class Authenticator:
    def __init__(self, keys: KeyStore, tokens: AccessTokens, now_ms: Clock) -> None:
        self._keys = keys
        self._tokens = tokens
        self._now_ms = now_ms
        self._throttle = Throttle(now_ms)
        self._proofs: BoundedDict[bytes, _Claim] = BoundedDict()
        self._key_cache: BoundedDict[str, tuple[int, ApiKey | None]] = BoundedDict()
        self._hashing = asyncio.Semaphore(MAX_CONCURRENT_HASHES)

    async def authenticate(self, header: str, address: str) -> Principal:
        """Return the caller; raises Unauthenticated, also after many failures."""
        presented = header.strip()
        if presented[:7].lower() == "bearer ":
            presented = presented[7:].strip()
        claim = await self._claim(presented, address)
        key = await self._key(claim.key_id)
        if key is None or not self._is_valid(key):
            raise Unauthenticated(NOT_AUTHENTICATED)
        return Principal(key.account_id, key.id, key.agent_id or claim.agent_id)

    async def issue_token(
        self, account_id: str, api_key: str, api_secret: str, agent_id: str | None, address: str
    ) -> tuple[str, int]:
        """Return an access token and its lifetime in seconds.

        Raises Unauthenticated or TooManyRequests.
        """
        key_id = parse_key_id(api_key)
        client = f"{address} {key_id or ''}"
        self._throttle.check(client)
        key = await self._key(key_id) if key_id else None
        if (
            key is None
            or not self._is_valid(key)
            or key.account_id != account_id
            or not await self._matches(api_key, key.key_hash)
            or not await self._matches(api_secret, key.secret_hash)
        ):
            self._throttle.record_failure(client)
            raise Unauthenticated(NOT_AUTHENTICATED)
        if key.agent_id and agent_id not in {None, key.agent_id}:
            raise BadInput("agentId", f"this key is agent {key.agent_id}'s")
        token = self._tokens.issue(key.id, key.account_id, key.agent_id or agent_id)
        return token, self._tokens.lifetime_s

    async def _claim(self, presented: str, address: str) -> _Claim:
        name = hashlib.sha256(presented.encode(errors="surrogateescape")).digest()
        claim = self._proofs.get(name)
        if claim is None or claim.until_ms <= self._now_ms():
            claim = self._proofs.put(name, await self._prove(presented, address))
        return claim

    async def _prove(self, presented: str, address: str) -> _Claim:
        if claims := self._tokens.verify(presented):
            return _Claim(claims["key"], claims.get("agent"), claims["exp"] * 1_000)
        key_id = parse_key_id(presented)
        key = await self._key(key_id) if key_id else None
        if key is None:
            raise Unauthenticated(NOT_AUTHENTICATED)  # an expired or invalid token: costs no hash
        client = f"header {address} {key.id}"  # requests for tokens are counted apart
        async with self._throttle.paced(client):
            if await self._matches(presented, key.key_hash):
                return _Claim(key.id, None, self._now_ms() + PROOF_CACHE_MS)
            self._throttle.record_failure(client)
        raise Unauthenticated(NOT_AUTHENTICATED)

    async def _key(self, key_id: str) -> ApiKey | None:
        until_ms, key = self._key_cache.get(key_id) or (0, None)
        if until_ms <= self._now_ms():
            key = await self._keys.get(key_id) if key_id else None
            self._key_cache.put(key_id, (self._now_ms() + KEY_CACHE_MS, key))
        return key

    async def _matches(self, secret: str, stored: str) -> bool:
        async with self._hashing:
            return await asyncio.to_thread(verify_secret, secret, stored)

    def _is_valid(self, key: ApiKey) -> bool:
        is_current = key.expires_ms is None or key.expires_ms > self._now_ms()
        return key.is_account_active and is_current
