"""Signatures of requests by Standard Webhooks: HMAC-SHA256 over id, time and body."""

import base64
import hashlib
import hmac
import time
from collections.abc import Callable, Mapping, Sequence

from switchroom_sdk.errors import SwitchroomError, VerificationFailed

TOLERANCE_S = 300
_PREFIX = "whsec_"
_VERSION = "v1"
_MAX_DIGITS = 19


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

    def verify(self, body: bytes, headers: Mapping[str, str]) -> str:
        """Return the id of a request; `body` is what came, unchanged. Raises VerificationFailed.

        The id is the same in each repetition of a request: use it to ignore duplicates.
        """
        lower = {name.lower(): value for name, value in headers.items()}
        request_id = _required(lower, "webhook-id")
        timestamp = _required(lower, "webhook-timestamp")
        signatures = _required(lower, "webhook-signature")
        self._check_time(timestamp)
        signed = b".".join((request_id.encode(errors="replace"), timestamp.encode(), body))
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
