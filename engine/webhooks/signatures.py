"""Signatures by Standard Webhooks: HMAC-SHA256 over id, time and body (standardwebhooks.com)."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from standardwebhooks import Webhook


class Signer:
    """Signs with a secret (`whsec_` and base64), or with two while they rotate."""

    def __init__(self, secret: str, *others: str) -> None:
        self._keys = [Webhook(each) for each in (secret, *others)]

    def headers(self, request_id: str, time_s: float, body: bytes) -> dict[str, str]:
        """Return the headers of one attempt; `time_s` is wall-clock, the body is UTF-8."""
        at = datetime.fromtimestamp(int(time_s), tz=UTC)
        text = body.decode()
        return {
            "webhook-id": request_id,
            "webhook-timestamp": str(int(time_s)),
            "webhook-signature": " ".join(key.sign(request_id, at, text) for key in self._keys),
        }


SignerLookup = Callable[[str], Awaitable[Signer]]  # of an account
