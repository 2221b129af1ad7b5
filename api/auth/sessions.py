"""Sessions of the console: a signed cookie, and a token that proves where a request comes from.

The cookie has no credential in it. It is HttpOnly, so a script cannot read it; a page has the
session's CSRF token, which each request to the API repeats in a header, so a page of another site
cannot send one. A session ends with its key, after SESSION_S without use, and after MAX_SESSION_S.
"""

import hmac
import secrets
from collections.abc import Sequence
from typing import Any

import jwt
from fastapi import Request
from msgspec import Struct
from starlette.responses import Response

from api.auth.tokens import ALGORITHM, OPTIONS, key_name
from api.common.clock import Clock
from api.http.request_middleware import SESSION_COOKIE

CSRF_HEADER = "X-CSRF-Token"
SESSION_S = 3_600
RENEWED_AFTER_S = 900  # so that the cookie is not written with each page
MAX_SESSION_S = 12 * 3_600
ISSUER = "switchroom"
AUDIENCE = "switchroom-console"  # neither is a token of the other kind
_CSRF_BYTES = 24


class Session(Struct, frozen=True):
    """Who has signed in, and when; times in seconds since 1970."""

    key_id: str
    agent_id: str | None
    csrf_token: str
    started_s: int
    issued_s: int

    def accepts(self, csrf_token: str) -> bool:
        return hmac.compare_digest(self.csrf_token.encode(), csrf_token.encode())


class ConsoleSessions:
    """Signs with the first secret; accepts cookies of any of them."""

    def __init__(self, token_secrets: Sequence[str], now_ms: Clock) -> None:
        self._kid = key_name(token_secrets[0])
        self._secrets = {key_name(secret): secret for secret in token_secrets}
        self._now_ms = now_ms

    def start(self, key_id: str, agent_id: str | None) -> Session:
        now_s = self._now_ms() // 1_000
        return Session(key_id, agent_id, secrets.token_urlsafe(_CSRF_BYTES), now_s, now_s)

    def renewed(self, session: Session) -> Session | None:
        """Return the session as of now if its cookie is due to be written again."""
        now_s = self._now_ms() // 1_000
        if now_s - session.issued_s < RENEWED_AFTER_S:
            return None
        return Session(
            session.key_id, session.agent_id, session.csrf_token, session.started_s, now_s
        )

    def write(self, session: Session, request: Request, response: Response) -> None:
        """Set the cookie."""
        response.set_cookie(
            cookie_name(request),
            self._encode(session),
            max_age=SESSION_S,
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )

    def read(self, request: Request) -> Session | None:
        """Return the session of a request's cookie; None if there is none, or it has ended."""
        cookie = request.cookies.get(cookie_name(request))
        return None if cookie is None else self._decode(cookie)

    def end(self, request: Request, response: Response) -> None:
        """Delete the cookie."""
        response.delete_cookie(cookie_name(request), httponly=True, samesite="strict")

    def _encode(self, session: Session) -> str:
        ends_s = min(session.issued_s + SESSION_S, session.started_s + MAX_SESSION_S)
        claims: dict[str, Any] = {
            "iss": ISSUER,
            "aud": AUDIENCE,
            "sub": session.agent_id or "",
            "key": session.key_id,
            "csrf": session.csrf_token,
            "auth_time": session.started_s,
            "iat": session.issued_s,
            "exp": ends_s,
        }
        return jwt.encode(claims, self._secrets[self._kid], ALGORITHM, headers={"kid": self._kid})

    def _decode(self, cookie: str) -> Session | None:
        try:
            secret = self._secrets.get(str(jwt.get_unverified_header(cookie).get("kid")))
            if secret is None:
                return None
            claims = jwt.decode(
                cookie, secret, [ALGORITHM], issuer=ISSUER, audience=AUDIENCE, options=OPTIONS
            )
        except jwt.InvalidTokenError:
            return None
        if claims["exp"] * 1_000 <= self._now_ms():
            return None
        agent_id = claims["sub"] or None
        times = claims["auth_time"], claims["iat"]
        return Session(claims["key"], agent_id, claims["csrf"], *times)


def cookie_name(request: Request) -> str:
    """Return the name, with the port: browsers send a cookie to all ports of a host."""
    return f"{SESSION_COOKIE}{request.url.port or request.url.scheme}"
