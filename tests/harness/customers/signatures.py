"""A customer's check of signatures, by the reference library of Standard Webhooks."""

import hashlib
from collections.abc import Mapping
from typing import Any

from standardwebhooks import Webhook


def verified(secret: str, body: bytes | str, headers: Mapping[str, str], url: str) -> Any:
    """Return the JSON of a request to an address; raises WebhookVerificationError.

    What is signed begins with the hash of the address, before the standard's content.
    """
    digest = hashlib.sha256(url.encode()).hexdigest()
    signed_id = f"{digest}.{headers['webhook-id']}"
    return Webhook(secret).verify(body, {**headers, "webhook-id": signed_id})
