"""Access tokens: signed JWTs with the key, account and agent that they were issued for.

The first secret signs; tokens of the others are accepted, so that secrets rotate without logging
anyone out. `kid` names the secret.
"""

import hashlib
from collections.abc import Sequence
from typing import Any

import jwt
from jwt.types import Options

from api.common.clock import Clock

ALGORITHM = "HS256"
ISSUER = AUDIENCE = "switchroom"
KID_CHARS = 8
# Expiry is checked below, with the injected clock.
OPTIONS: Options = {
    "require": ["exp", "sub", "key", "aud"],
    "verify_exp": False,
    "verify_iat": False,
}


class AccessTokens:
    def __init__(self, secrets: Sequence[str], lifetime_s: int, now_ms: Clock) -> None:
        self.lifetime_s = lifetime_s
        self._kid = key_name(secrets[0])
        self._secrets = {key_name(secret): secret for secret in secrets}
        self._now_ms = now_ms

    def issue(self, key_id: str, account_id: str, agent_id: str | None) -> str:
        """Return a signed token."""
        now_s = self._now_ms() // 1_000
        claims: dict[str, Any] = {
            "iss": ISSUER,
            "aud": AUDIENCE,
            "sub": account_id,
            "key": key_id,
            "iat": now_s,
            "exp": now_s + self.lifetime_s,
        }
        if agent_id is not None:
            claims["agent"] = agent_id
        return jwt.encode(claims, self._secrets[self._kid], ALGORITHM, headers={"kid": self._kid})

    def verify(self, token: str) -> dict[str, Any] | None:
        """Return a token's claims, or None if it is not ours or has expired."""
        try:
            secret = self._secrets.get(str(jwt.get_unverified_header(token).get("kid")))
            if secret is None:
                return None
            claims = jwt.decode(
                token,
                secret,
                [ALGORITHM],
                issuer=ISSUER,
                audience=AUDIENCE,
                options=OPTIONS,
            )
        except jwt.InvalidTokenError:
            return None
        return claims if claims["exp"] * 1_000 > self._now_ms() else None


def key_name(secret: str) -> str:
    """Return a secret's name, which does not reveal it."""
    return hashlib.sha256(b"kid" + secret.encode()).hexdigest()[:KID_CHARS]
