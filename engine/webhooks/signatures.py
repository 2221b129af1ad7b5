"""Signatures of requests: Standard Webhooks (standardwebhooks.com), bound to one address.

What is signed is HMAC-SHA256 of `hash.id.timestamp.body`: the standard's content, with the hash of
the address before the id. Whoever receives a request computes the hash of its own address, so what
one server got verifies at no other.
"""

import hashlib
import re
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from standardwebhooks import Webhook

from base.http_client import exact_url

_AUTHORITY = re.compile(r"([a-z][a-z0-9+.-]*)://(?:[^/?#]*@)?([^/?#]*)", re.IGNORECASE)
_DEFAULT_PORTS = {"https": ":443", "wss": ":443", "http": ":80", "ws": ":80"}


class Signer:
    """Signs with a secret (`whsec_` and base64), or with two while they rotate."""

    def __init__(self, secret: str, *others: str) -> None:
        self._keys = [Webhook(each) for each in (secret, *others)]

    def headers(self, request_id: str, time_s: float, body: bytes, url: str) -> dict[str, str]:
        """Return the headers of one attempt; `time_s` is wall-clock, the body is UTF-8.

        `url` is where the attempt goes: its secrets are in it.
        """
        at = datetime.fromtimestamp(int(time_s), tz=UTC)
        digest = hashlib.sha256(signed_url(url).encode()).hexdigest()
        signed_id, text = f"{digest}.{request_id}", body.decode()
        return {
            "webhook-id": request_id,
            "webhook-timestamp": str(int(time_s)),
            "webhook-url-sha256": digest,
            "webhook-signature": " ".join(key.sign(signed_id, at, text) for key in self._keys),
        }


SignerLookup = Callable[[str], Awaitable[Signer]]  # of an account


def signed_url(url: str) -> str:
    """Return the one spelling of an address that is signed (docs/callbacks.md#verify).

    Scheme and host are in lower case, without a default port, login and fragment; path and query
    are as they are sent.
    """
    found = _AUTHORITY.match(url)
    if found is None:
        raise ValueError("no absolute address")
    scheme, host = found[1].lower(), found[2].lower()
    host = host.removesuffix(_DEFAULT_PORTS.get(scheme, ""))
    return f"{scheme}://{host}{exact_url(url).raw_path_qs or '/'}"
