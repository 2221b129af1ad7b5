"""Tickets with which a browser opens the websocket of a phone: signed, and only for a while.

A ticket is `ACCOUNT.KEY.SECONDS.SIGNATURE`, with the id of the API key that it was made with. It
lets a browser reach a PBX node, and is no login there.
"""

import base64
import hmac
from collections.abc import Sequence

from api.common.clock import Clock
from api.http.phone_websockets import AccountKey


class PhoneTickets:
    """The first secret signs; tickets of the others are accepted until they expire."""

    def __init__(self, secrets: Sequence[str], now_ms: Clock) -> None:
        self._secrets = tuple(secrets)
        self._now_ms = now_ms

    def issue(self, account_id: str, key_id: str, expires_ms: int) -> str:
        """Return a ticket of an account."""
        claims = f"{account_id}.{key_id}.{-(-expires_ms // 1_000)}"
        return f"{claims}.{_signature(self._secrets[0], claims)}"

    def verify(self, ticket: str) -> AccountKey | None:
        """Return the account and key of a ticket, or None if it is not ours or has expired."""
        claims, _, signature = ticket.rpartition(".")
        given = signature.encode()
        if not any(
            hmac.compare_digest(_signature(each, claims).encode(), given) for each in self._secrets
        ):
            return None
        account_id, key_id, seconds = claims.rsplit(".", 2)
        return (account_id, key_id) if int(seconds) * 1_000 > self._now_ms() else None


def _signature(secret: str, claims: str) -> str:
    digest = hmac.digest(secret.encode(), b"phone ticket:" + claims.encode(), "sha256")
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
