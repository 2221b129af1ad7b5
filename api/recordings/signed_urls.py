"""Signed addresses of recordings: whoever has one may listen until it expires.

A signature is an HMAC of the path and the expiry with a key derived from the token secret. Old
secrets are still accepted; an address is revoked when its secret is removed.
"""

import hmac
from collections.abc import Sequence

from api.common.clock import Clock
from api.common.errors import NotFound
from api.common.recording_paths import RecordingPath, path_of_url

BASE = "/media/recordings"


class UrlSigner:
    def __init__(self, secrets: Sequence[str], lifetime_s: int, now_ms: Clock) -> None:
        self._keys = [hmac.digest(each.encode(), b"recordings", "sha256") for each in secrets]
        self._lifetime_s = lifetime_s
        self._now_ms = now_ms

    def sign(self, path: RecordingPath) -> str:
        """Return an address below that of the REST layer."""
        expires_s = self._now_ms() // 1_000 + self._lifetime_s
        signature = _signature(self._keys[0], path, expires_s)
        return f"{BASE}/{path.text}?expires={expires_s}&signature={signature}"

    def sign_url(self, account_id: str, url: str) -> str:
        """Return the signed address of a recording by its address in a record; else nothing."""
        path = path_of_url(account_id, url)
        return "" if path is None else self.sign(path)

    def check(self, path: RecordingPath, expires_s: int, signature: str) -> None:
        """Raise NotFound for an address that is forged or expired."""
        given = signature.encode()
        is_valid = any(
            hmac.compare_digest(_signature(key, path, expires_s).encode(), given)
            for key in self._keys
        )
        if not is_valid or expires_s * 1_000 <= self._now_ms():
            raise NotFound("no such recording, or its address has expired")


def _signature(key: bytes, path: RecordingPath, expires_s: int) -> str:
    return hmac.digest(key, f"{path.text}\n{expires_s}".encode(), "sha256").hex()
