"""Signatures by Standard Webhooks: HMAC-SHA256 over id, time and body (standardwebhooks.com)."""

from datetime import UTC, datetime

from standardwebhooks import Webhook


class Signer:
    """Signs with a secret (`whsec_` and base64), or with two while they rotate, or not at all."""

    def __init__(self, *secrets: str) -> None:
        self._keys = [Webhook(secret) for secret in secrets]

    def headers(self, request_id: str, time_s: float, body: bytes) -> dict[str, str]:
        """Return the headers of one attempt; `time_s` is wall-clock, the body is UTF-8."""
        at = datetime.fromtimestamp(int(time_s), tz=UTC)
        headers = {"webhook-id": request_id, "webhook-timestamp": str(int(time_s))}
        if self._keys:
            text = body.decode()
            headers["webhook-signature"] = " ".join(
                key.sign(request_id, at, text) for key in self._keys
            )
        return headers
