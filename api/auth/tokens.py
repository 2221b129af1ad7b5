"""Access tokens: signed JWTs with the key, account and agent that they were issued for."""

from typing import Any

import jwt
from jwt.types import Options

from api.common.clock import Clock

ALGORITHM = "HS256"
ISSUER = "switchroom"
# Expiry is checked below, with the injected clock.
OPTIONS: Options = {
    "require": ["exp", "sub", "key"],
    "verify_exp": False,
    "verify_iat": False,
}


class AccessTokens:
    def __init__(self, secret: str, lifetime_s: int, now_ms: Clock) -> None:
        self.lifetime_s = lifetime_s
        self._secret = secret
        self._now_ms = now_ms

    def issue(self, key_id: str, account_id: str, agent_id: str | None) -> str:
        """Return a signed token."""
        now_s = self._now_ms() // 1_000
        claims: dict[str, Any] = {
            "iss": ISSUER,
            "sub": account_id,
            "key": key_id,
            "iat": now_s,
            "exp": now_s + self.lifetime_s,
        }
        if agent_id is not None:
            claims["agent"] = agent_id
        return jwt.encode(claims, self._secret, ALGORITHM)

    def verify(self, token: str) -> dict[str, Any] | None:
        """Return a token's claims, or None if it is not ours or has expired."""
        try:
            claims = jwt.decode(
                token,
                self._secret,
                [ALGORITHM],
                issuer=ISSUER,
                options=OPTIONS,
            )
        except jwt.InvalidTokenError:
            return None
        return claims if claims["exp"] * 1_000 > self._now_ms() else None
