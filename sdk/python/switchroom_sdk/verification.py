"""Signatures of requests: HMAC-SHA256 over the hash of the address, id, time and body.

The content after the hash is that of Standard Webhooks. What is signed for one address verifies at
no other.
"""

import base64
import hashlib
import hmac
import re
import time
from collections.abc import Callable, Mapping, Sequence

from switchroom_sdk.errors import SwitchroomError, VerificationFailed

TOLERANCE_S = 300
_PREFIX = "whsec_"
_VERSION = "v1"
_MAX_DIGITS = 19
_URL = re.compile(r"([a-z][a-z0-9+.-]*)://([^/?#]+)([^?#]*)(\?[^#]+)?", re.IGNORECASE)
_DEFAULT_PORTS = {"https": ":443", "wss": ":443", "http": ":80", "ws": ":80"}


class Verifier:
    """Verifies requests with the account's secret, or with several while they rotate."""

    def __init__(
        self,
        secrets: str | Sequence[str],
        *,
        tolerance_s: float = TOLERANCE_S,
        clock: Callable[[], float] = time.time,
    ) -> None:
        given = (secrets,) if isinstance(secrets, str) else tuple(secrets)
        if not given:
            raise SwitchroomError("secret: at least one is required")
        self._keys = [_key(each) for each in given]
        self._tolerance_s = tolerance_s
        self._clock = clock

    def verify(self, body: bytes, headers: Mapping[str, str], url: str) -> str:
        """Return the id of a request; `body` is what came, unchanged. Raises VerificationFailed.

        `url` is the address that it was sent to: your server's public one, with the path and query
        of the request as they came. Do not take the host from the request: its sender wrote it.

        The id is the same in each repetition of a request: use it to ignore duplicates.
        """
        lower = {name.lower(): value for name, value in headers.items()}
        request_id = _required(lower, "webhook-id")
        timestamp = _required(lower, "webhook-timestamp")
        signatures = _required(lower, "webhook-signature")
        digest = hashlib.sha256(signed_url(url).encode(errors="replace")).hexdigest()
        if _required(lower, "webhook-url-sha256") != digest:
            raise VerificationFailed(f"webhook-url-sha256: it is signed for another URL than {url}")
        self._check_time(timestamp)
        signed = f"{digest}.{request_id}.{timestamp}.".encode(errors="replace") + body
        expected = [hmac.digest(key, signed, hashlib.sha256) for key in self._keys]
        for signature in signatures.split():
            version, _, text = signature.partition(",")
            if version == _VERSION and any(
                hmac.compare_digest(_decoded(text), each) for each in expected
            ):
                return request_id
        raise VerificationFailed("webhook-signature: it is not made with this secret")

    def _check_time(self, timestamp: str) -> None:
        is_number = timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= _MAX_DIGITS
        if not is_number:
            raise VerificationFailed("webhook-timestamp: seconds since 1970 are expected")
        if abs(self._clock() - int(timestamp)) > self._tolerance_s:
            text = f"webhook-timestamp: more than {self._tolerance_s:g} s from now"
            raise VerificationFailed(text)


def signed_url(url: str) -> str:
    """Return the spelling of an address that is signed.

    Scheme and host are in lower case, without a default port and a fragment; path and query are as
    they were sent.
    """
    found = _URL.match(url)
    if found is None:
        raise SwitchroomError(f"url: an absolute address is expected, not {url}")
    scheme, host = found[1].lower(), found[2].lower()
    host = host.removesuffix(_DEFAULT_PORTS.get(scheme, ""))
    return f"{scheme}://{host}{found[3] or '/'}{found[4] or ''}"


def _required(headers: Mapping[str, str], name: str) -> str:
    if not (value := headers.get(name)):
        raise VerificationFailed(f"{name}: the header is missing")
    return value


def _key(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
    except ValueError:
        raise SwitchroomError(f"secret: {_PREFIX} and base64 are expected") from None
    if not key:
        raise SwitchroomError("secret: it is empty")
    return key


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:  # also of letters that are not ASCII
        return b""
